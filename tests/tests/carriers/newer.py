#!/usr/bin/env python3
"""Signs in at an XMPP server as a Qiyou of a later year, which speaks versions 2 and 3 of cards, links and letters alone, and meets a
device of today: newer.py HOST:PORT DOMAIN USER PASSWORD ACCOUNT

It opens a link and sends a letter, prints what each is answered with, then answers the first link that is opened to it with what it
speaks, and prints so."""

import re
import sys

from client import Client

place, domain, user, password, account = sys.argv[1:]
client = Client(place, domain, user, password, "qiyou")


def attributes(tag):
    return dict(re.findall(r"([\w:]+)=['\"]([^'\"]*)['\"]", tag))


def until(name, **wanted):
    """The attributes of the first element of this name that has these."""
    seen = ""
    while True:
        seen += client.until(">")
        for tag in re.findall(rf"<{name}\b[^>]*>", seen):
            found = attributes(tag)
            if all(found.get(key) == value for key, value in wanted.items()):
                return found


client.send("<presence><card xmlns='urn:qiyou:card:2' what='nobody knows'/></presence>")
client.send(f"<message type='chat' to='{account}/qiyou'><q xmlns='urn:qiyou:link:3' l='later' o='1'>?</q></message>")
answer = until("versions", xmlns="urn:qiyou:versions", of="link", id="later")
print(f"links {answer['lowest']} to {answer['highest']}", flush=True)
client.send(f"<message type='chat' to='{account}' id='wish'><letter xmlns='urn:qiyou:letter:2'>?</letter>"
            "<store xmlns='urn:xmpp:hints'/><request xmlns='urn:xmpp:receipts'/></message>")
answer = until("versions", xmlns="urn:qiyou:versions", of="letter", id="wish")
print(f"letters {answer['lowest']} to {answer['highest']}", flush=True)
link = until("q", xmlns="urn:qiyou:link:1")["l"]
client.send(f"<message type='chat' to='{account}/qiyou'>"
            f"<versions xmlns='urn:qiyou:versions' of='link' id='{link}' lowest='2' highest='3'/></message>")
print("a link is refused", flush=True)
# The server forwards what came before this.
client.send(f"<iq type='get' id='ping' to='{domain}'><ping xmlns='urn:xmpp:ping'/></iq>")
client.until("id='ping'", 'id="ping"')
