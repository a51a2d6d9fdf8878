#!/usr/bin/env python3
"""Signs in at an XMPP server as a client of nobody's, and sends an account messages that are nested LEVELS deep, and some as long as
servers forward, then asks it to be a contact: deep.py HOST:PORT DOMAIN USER PASSWORD ACCOUNT LEVELS"""

import base64
import socket
import ssl
import sys

place, domain, user, password, account, levels = sys.argv[1:]
host, port = place.rsplit(":", 1)
sock = socket.create_connection((host, int(port)), timeout=20)


def send(text):
    sock.sendall(text.encode())


def until(*signs):
    """Reads until one of them has come."""
    seen = ""
    while not any(sign in seen for sign in signs):
        part = sock.recv(65536)
        assert part, f"the server hung up after {seen[-500:]}"
        seen += part.decode(errors="replace")
    return seen


def open_stream():
    send(f"<?xml version='1.0'?><stream:stream to='{domain}' version='1.0' xmlns='jabber:client'"
         " xmlns:stream='http://etherx.jabber.org/streams'>")
    return until("</stream:features>")


open_stream()
send("<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
until("<proceed")
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
sock = context.wrap_socket(sock, server_hostname=domain)
open_stream()
proof = base64.b64encode(f"\0{user}\0{password}".encode()).decode()
send(f"<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>{proof}</auth>")
assert "<success" in until("<success", "<failure"), "not signed in"
open_stream()
send("<iq type='set' id='b'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>")
until("id='b'", 'id="b"')
send("<presence/>")
nested = "<x xmlns='deep'>" + "<a>" * int(levels) + "</a>" * int(levels) + "</x>"
for kind in ("headline", "chat", "normal"):
    send(f"<message type='{kind}' to='{account}'><body>{kind}</body>{nested}</message>")
long = "x" * 200_000
for _ in range(6):
    send(f"<message type='headline' to='{account}'><body>{long}</body></message>")
send(f"<presence type='subscribe' to='{account}'/>")
# What comes after it in the stream was heard after it.
send(f"<iq type='get' id='ping' to='{domain}'><ping xmlns='urn:xmpp:ping'/></iq>")
answer = until("id='ping'", 'id="ping"', "</stream:stream>")
print("refused by the server" if "</stream:stream>" in answer or "<stream:error" in answer else "sent")
