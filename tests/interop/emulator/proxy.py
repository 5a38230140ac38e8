"""What stands before the emulator: it counts requests, breaks connections, and knows one credential."""

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOKEN = "ghp_aTokenThatMustNotBeSeen"


class Proxy:
    """Stands before the emulator, counts, and calls `before` and `after` with the number of each request."""

    def __init__(self, upstream):
        self.asked, self.before, self.after = [], None, None
        proxy, lock = self, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                with lock:
                    proxy.asked.append(f"{self.command} {self.path.split('?')[0]}")
                    number = len(proxy.asked)
                if proxy.before and proxy.before(number):
                    self.close_connection = True
                    return
                # The emulator takes anybody in.
                if self.headers.get("authorization") != f"Bearer {TOKEN}":
                    self.reply(401, [("content-type", "application/json")], b'{"message": "Bad credentials"}')
                    return
                connection = http.client.HTTPConnection("127.0.0.1", upstream)
                connection.request(self.command, self.path, body or None, dict(self.headers))
                reply = connection.getresponse()
                content = reply.read()
                connection.close()
                if proxy.after and proxy.after(number):
                    self.close_connection = True
                    return
                self.reply(reply.status, reply.getheaders(), content)

            def reply(self, status, headers, content):
                self.send_response(status)
                for name, value in headers:
                    if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                        self.send_header(name, value)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PATCH = do_DELETE = answer

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        """From now on nobody can connect."""
        self.server.shutdown()
        self.server.server_close()

    def take(self):
        asked, self.asked = self.asked, []
        return asked
