"""The stranger's radio: the Bluetooth stack bumble on a controller of the lab's emulator."""

import asyncio
import sys
from dataclasses import dataclass

from bumble.core import UUID, ProtocolError
from bumble.core import ConnectionError as BumbleConnectionError
from bumble.device import Device, DeviceConfiguration, Peer
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.hci import Address, OwnAddressType
from bumble.transport import open_transport

import wire
from talk import Stream

SERVICE = UUID("1aea3cda-90c7-4f92-a929-83e7e62f688e")
TO_PERIPHERAL = UUID("1aea3cdb-90c7-4f92-a929-83e7e62f688e")
TO_CENTRAL = UUID("1aea3cdc-90c7-4f92-a929-83e7e62f688e")
COMPANY = b"\xff\xff"

FLAGS, UUIDS_128, NAME, MANUFACTURER = 0x01, 0x07, 0x09, 0xFF
# Discoverable, and no Bluetooth Classic here.
LE_ONLY = b"\x06"

# An emulated controller reports each advertisement once per scan.
SCAN_ANEW = 1.0
# A host whose advertisement was lost by the controller renews it after a minute.
FOUND_WITHIN = 75.0
INTERVAL_MS = 100
TRIES = 5
# Service discovery included, by a guest on a busy machine.
DIALED_WITHIN = 15.0
BETWEEN_TRIES = 0.3
ATT_HEADER = 3
LARGEST_MTU = 517


@dataclass
class Card:
    """The contents of an advertisement of this protocol."""

    address: Address
    flags: bytes
    payload: bytes
    name: str

    @property
    def tag(self):
        return self.payload[1:6]


def read_card(advertisement):
    known = dict(advertisement.data.ad_structures)
    manufacturer = known.get(MANUFACTURER, b"")
    if known.get(UUIDS_128) != SERVICE.to_bytes() or manufacturer[:2] != COMPANY:
        return None
    return Card(advertisement.address, known.get(FLAGS, b""), manufacturer[2:], known.get(NAME, b"").decode())


def named(name):
    return lambda card: card.name == name


class Radio:
    @staticmethod
    async def open(socket):
        transport = await open_transport(f"unix:{socket}")
        config = DeviceConfiguration(name="stranger", le_enabled=True, classic_enabled=False)
        device = Device.from_config_with_hci(config, transport.source, transport.sink)
        await device.power_on()
        return Radio(device)

    def __init__(self, device):
        self.device = device
        # Number of dial attempts for the last connection.
        self.tries = 0

    @property
    def address(self):
        return self.device.public_address.to_string(with_type_qualifier=False)

    async def find(self, is_meant, within=FOUND_WITHIN):
        """Scans until an advertisement of this protocol arrives whose card the predicate accepts."""
        found = asyncio.get_running_loop().create_future()

        def heard(advertisement):
            card = read_card(advertisement)
            if card and is_meant(card) and not found.done():
                found.set_result(card)

        self.device.on("advertisement", heard)
        try:
            async with asyncio.timeout(within):
                while not found.done():
                    await self.device.start_scanning(active=True, own_address_type=OwnAddressType.PUBLIC)
                    await asyncio.wait([found], timeout=SCAN_ANEW)
                    await self.device.stop_scanning()
        finally:
            self.device.remove_listener("advertisement", heard)
        return found.result()

    async def reach_named(self, name):
        return await self.reach(named(name))

    async def reach(self, is_meant):
        """Finds and connects, with retries as centrals do. A real controller waits for the next advertisement of the device to
        connect to; the emulated one fails at once if none is on the air. And bluetoothd takes the first channel of a device that
        reconnects early for an EATT channel of the old connection, and rejects its unexpected messages (hardware-notes.md); the
        next connection works."""
        for self.tries in range(1, TRIES + 1):
            card = await self.find(is_meant)
            try:
                async with asyncio.timeout(DIALED_WITHIN):
                    return card, *await self.dial(card)
            except (BumbleConnectionError, ProtocolError, TimeoutError, asyncio.CancelledError) as error:
                # Requests of a closed connection are cancelled; this task itself is not.
                if self.tries == TRIES or asyncio.current_task().cancelling():
                    raise
                print(f"try {self.tries}: {error!r}", file=sys.stderr, flush=True)
                await asyncio.sleep(BETWEEN_TRIES)

    async def dial(self, card):
        """Connects as a central and subscribes. The stream is not opened yet."""
        connection = await self.device.connect(card.address, own_address_type=OwnAddressType.PUBLIC)
        gone = asyncio.Event()
        connection.on("disconnection", lambda _: gone.set())
        try:
            return connection, await self.subscribe(connection)
        except BaseException:
            if not gone.is_set():
                await connection.disconnect()
            raise

    async def subscribe(self, connection):
        peer = Peer(connection)
        mtu = await peer.request_mtu(LARGEST_MTU)
        [service] = await peer.discover_service(SERVICE)
        await peer.discover_characteristics(service=service)
        [to_peripheral] = peer.get_characteristics_by_uuid(TO_PERIPHERAL)
        [to_central] = peer.get_characteristics_by_uuid(TO_CENTRAL)

        async def send(value):
            await to_peripheral.write_value(value, with_response=False)

        stream = Stream(send, mtu - ATT_HEADER)
        connection.on("disconnection", lambda _: stream.lost())
        await to_central.subscribe(stream.handle)
        return stream

    async def pose(self, card, name):
        """Advertises this card and waits for an incoming link; returns the connection and the stream."""
        opened = asyncio.get_running_loop().create_future()
        streams = {}

        def written(connection, value):
            stream = streams.get(connection.handle)
            opening = wire.read_opening(value)
            if stream:
                stream.handle(value)
            elif opening:

                async def send(fragment):
                    await self.device.notify_subscriber(connection, to_central, fragment)

                streams[connection.handle] = stream = Stream(send, connection.att_mtu - ATT_HEADER)
                connection.on("disconnection", lambda _: stream.lost())
                opened.set_result((connection, stream, opening))

        properties = Characteristic.Properties
        writes = properties.WRITE | properties.WRITE_WITHOUT_RESPONSE
        to_peripheral = Characteristic(
            TO_PERIPHERAL, writes, Characteristic.WRITEABLE, CharacteristicValue(write=written)
        )
        to_central = Characteristic(TO_CENTRAL, properties.NOTIFY, Characteristic.READABLE, b"")
        self.device.add_service(Service(SERVICE, [to_peripheral, to_central]))

        def structure(kind, value):
            return bytes([len(value) + 1, kind]) + value

        advert = structure(FLAGS, LE_ONLY) + structure(UUIDS_128, SERVICE.to_bytes())
        advert += structure(MANUFACTURER, COMPANY + card.payload)
        await self.device.start_advertising(
            advertising_data=advert,
            scan_response_data=structure(NAME, name.encode()),
            own_address_type=OwnAddressType.PUBLIC,
            advertising_interval_min=INTERVAL_MS,
            advertising_interval_max=INTERVAL_MS,
        )
        return opened
