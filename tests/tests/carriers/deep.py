#!/usr/bin/env python3
"""Signs in at an XMPP server as a client of nobody's, and sends an account messages that are nested LEVELS deep, and some as long as
servers forward, then asks it to be a contact: deep.py HOST:PORT DOMAIN USER PASSWORD ACCOUNT LEVELS"""

import sys

from client import Client

place, domain, user, password, account, levels = sys.argv[1:]
client = Client(place, domain, user, password)
client.send("<presence/>")
nested = "<x xmlns='deep'>" + "<a>" * int(levels) + "</a>" * int(levels) + "</x>"
for kind in ("headline", "chat", "normal"):
    client.send(f"<message type='{kind}' to='{account}'><body>{kind}</body>{nested}</message>")
long = "x" * 200_000
for _ in range(6):
    client.send(f"<message type='headline' to='{account}'><body>{long}</body></message>")
client.send(f"<presence type='subscribe' to='{account}'/>")
# What comes after it in the stream was heard after it.
client.send(f"<iq type='get' id='ping' to='{domain}'><ping xmlns='urn:xmpp:ping'/></iq>")
answer = client.until("id='ping'", 'id="ping"', "</stream:stream>")
print("refused by the server" if "</stream:stream>" in answer or "<stream:error" in answer else "sent")
