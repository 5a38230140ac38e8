// `stepmark serve` beside the test.

import { spawn } from "node:child_process";
import { once } from "node:events";
import net from "node:net";
import { createInterface } from "node:readline";

export class Server {
  static async start(project, port = 0) {
    const server = new Server();
    server.project = project;
    await server.begin(port);
    return server;
  }

  async begin(port) {
    this.process = spawn(this.project.binary, ["serve", "--port", String(port)], {
      cwd: this.project.root, env: this.project.environment, stdio: ["ignore", "pipe", "inherit"],
    });
    this.ended = once(this.process, "exit");
    const line = once(createInterface({ input: this.process.stdout }), "line");
    const [url] = await Promise.race([line, this.ended.then(([code]) => { throw new Error(`serve ended with ${code}`); })]);
    this.url = url;
  }

  // Ends it, and begins again at the same port.
  async restart() {
    const { port } = new URL(this.url);
    await this.stop();
    await this.begin(port);
  }

  async stop() {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill("SIGTERM");
    const [code] = await this.ended;
    return code;
  }

  // A request as it stands: browsers and clients would correct it.
  async raw(method, target, headers) {
    const { hostname, port } = new URL(this.url);
    const socket = net.connect(Number(port), hostname);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
    socket.write(`${method} ${target} HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`);
    let text = "";
    socket.setEncoding("utf8").on("data", (part) => { text += part; });
    await once(socket, "close");
    return { status: Number(text.split(" ")[1]), head: text.split("\r\n\r\n")[0] };
  }
}
