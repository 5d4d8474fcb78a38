// nginx in front of several proxies, set for streams.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../tests/e2e/line.mjs";
import { openServer } from "./server.mjs";

/**
 * In turn to each of `ports`, or `byName`: who comes back to an answer goes to the replica that was asked for it; to the next where one
 * refuses the connection.
 */
export async function openNginx(folder, ports, { byName = false } = {}) {
  const port = await freePort();
  const file = join(folder, "nginx.conf");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${folder}/nginx-${kind};`);
  writeFileSync(
    file,
    `daemon off; master_process off; worker_rlimit_nofile 16384; pid ${folder}/nginx.pid; error_log ${folder}/nginx-error.log;
events { worker_connections 8192; }
http {
  access_log off;
  ${temporary.join("\n  ")}
  map $uri $name {
    default $http_idempotency_key;
    "~^/tidemark/streams/(?<named>.+)$" $named;
  }
  upstream replicas {
    ${byName ? "hash $name consistent;" : ""}
    ${ports.map((each) => `server 127.0.0.1:${each} max_fails=0;`).join("\n    ")}
    keepalive 64;
  }
  server {
    listen 127.0.0.1:${port};
    client_max_body_size 32m;
    location / {
      proxy_pass http://replicas;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_buffering off;
      proxy_connect_timeout 2s;
      proxy_read_timeout 1h;
      proxy_next_upstream error timeout;
    }
  }
}
`,
  );
  return openServer({ command: ["nginx", "-p", folder, "-c", file, "-e", join(folder, "nginx-start.log")], port, file: join(folder, "nginx.log") });
}
