/** Starts the page. */
import { startApp } from "./app.tsx";

const addressOf = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";
startApp(document.body, { worker: addressOf("layout-worker"), land: addressOf("land") });
