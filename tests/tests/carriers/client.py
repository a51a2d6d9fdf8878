"""A client of nobody's at an XMPP server, for tests: signs in and writes whatever it is told to."""

import base64
import socket
import ssl


class Client:
    """Signed in as USER at DOMAIN, with a resource of its own choice if none is given."""

    def __init__(self, place, domain, user, password, resource=None):
        host, port = place.rsplit(":", 1)
        self.domain = domain
        self.sock = socket.create_connection((host, int(port)), timeout=20)
        self.open_stream()
        self.send("<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
        self.until("<proceed")
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.sock = context.wrap_socket(self.sock, server_hostname=domain)
        self.open_stream()
        proof = base64.b64encode(f"\0{user}\0{password}".encode()).decode()
        self.send(f"<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>{proof}</auth>")
        assert "<success" in self.until("<success", "<failure"), "not signed in"
        self.open_stream()
        chosen = f"<resource>{resource}</resource>" if resource else ""
        self.send(f"<iq type='set' id='b'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>{chosen}</bind></iq>")
        self.until("id='b'", 'id="b"')

    def send(self, text):
        self.sock.sendall(text.encode())

    def until(self, *signs):
        """Reads until one of them has come; returns what was read."""
        seen = ""
        while not any(sign in seen for sign in signs):
            part = self.sock.recv(65536)
            assert part, f"the server hung up after {seen[-500:]}"
            seen += part.decode(errors="replace")
        return seen

    def open_stream(self):
        self.send(f"<?xml version='1.0'?><stream:stream to='{self.domain}' version='1.0' xmlns='jabber:client'"
                  " xmlns:stream='http://etherx.jabber.org/streams'>")
        return self.until("</stream:features>")
