/** A request to a service that the machine has no time for now: it says that it is overloaded, and the client asks again. */

const RETRY_MS = 1000;

export async function served(request: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const response = await request();
    if (response.status !== 503 || !(await response.clone().text()).includes("#overloaded")) return response;
    await Bun.sleep(RETRY_MS);
  }
}
