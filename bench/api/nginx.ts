/** nginx as the reference: one worker, Basic credentials, files and their gzip versions from the page cache. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Running, SERVER_CORE, start } from "../lib/process.ts";

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export interface Nginx extends Running {
  readonly url: string;
  /** Serves bytes at a path, with their gzip version. */
  put(path: string, bytes: Uint8Array, gzip?: Uint8Array): void;
}

export async function startNginx(folder: string, port: number, tls?: TlsFiles): Promise<Nginx> {
  const root = join(folder, "root");
  mkdirSync(root, { recursive: true });
  writeFileSync(join(folder, "users"), "bench:{PLAIN}bench\n");
  writeFileSync(join(folder, "nginx.conf"), configuration(folder, root, port, tls));
  const server = start(["nginx", "-p", folder, "-c", join(folder, "nginx.conf")], SERVER_CORE);
  const url = `${tls ? "https" : "http"}://127.0.0.1:${port}`;
  for (let tries = 0; tries < 100; tries++) {
    const up = await fetch(url, { tls: { rejectUnauthorized: false } }).then(
      () => true,
      () => false,
    );
    if (up) break;
    await Bun.sleep(50);
  }
  return {
    ...server,
    url,
    put(path, bytes, gzip) {
      const file = join(root, path);
      mkdirSync(join(file, ".."), { recursive: true });
      writeFileSync(file, bytes);
      writeFileSync(`${file}.gz`, gzip ?? gzipSync(bytes));
    },
  };
}

const configuration = (folder: string, root: string, port: number, tls?: TlsFiles): string => `
daemon off;
master_process off;
worker_processes 1;
pid ${folder}/pid;
error_log ${folder}/error.log crit;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  sendfile on; tcp_nopush on; keepalive_requests 1000000000; keepalive_timeout 65;
  open_file_cache max=100 inactive=1h; open_file_cache_valid 1h;
  gzip_static on;
  default_type application/json;
  server {
    listen 127.0.0.1:${port} ${tls ? "ssl" : ""} backlog=4096;
    ${tls ? `ssl_certificate ${tls.cert}; ssl_certificate_key ${tls.key};` : ""}
    root ${root};
    auth_basic controller;
    auth_basic_user_file ${folder}/users;
  }
}
`;
