"""A process's own network with one way out, and every packet that takes it.

The process lives in a namespace; a pair of virtual cables leads from there to this side, where the
house is. Outgoing packets are read off the cable by an AF_PACKET socket, before any firewall.
"""

import os
import re
import socket
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address

from tests.chaos.disks import run

HERE, THERE = "10.213.57.1", "10.213.57.2"  # this side, where the house is; the process's side
_EVERYTHING = 0x0003  # ETH_P_ALL
_OUTGOING = 4  # PACKET_OUTGOING: seen from this end, what we sent
_IPV4, _ARP, _IPV6 = 0x0800, 0x0806, 0x86DD
_TCP, _UDP = 6, 17
_GREETING = re.compile(r"ff02::\S+ protocol (0|58)")  # neighbours, routers, group membership
_ROOM = 64 << 20  # bytes of packets that may wait to be read


@dataclass(frozen=True, slots=True)
class Cable:
    """Both ends of it."""

    namespace: str
    here: str  # the name of this side's end
    there: str


@dataclass(slots=True)
class Traffic:
    """Packets that left the namespace, counted by destination."""

    to: Counter[str] = field(default_factory=Counter)  # "10.213.57.1 tcp 8123" -> packets

    def elsewhere(self, port: int) -> dict[str, int]:
        """Return the packets to anything but that port of this side, by destination.

        Left out is what the kernel says to the cable's other end: ARP for this side, and ICMPv6
        greetings.
        """
        house = {f"{HERE} tcp {port}", f"arp {HERE}"}
        return {
            aim: count
            for aim, count in self.to.items()
            if aim not in house and not _GREETING.fullmatch(aim)
        }


class Tap:
    """Reads the cable. The kernel's buffer limits it; `lost` reports if that was too small."""

    def __init__(self, interface: str) -> None:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_EVERYTHING))
        self._socket.setsockopt(socket.SOL_SOCKET, 33, _ROOM)  # SO_RCVBUFFORCE: root may
        self._socket.bind((interface, 0))
        self._socket.setblocking(False)
        self.traffic = Traffic()

    def read(self) -> Traffic:
        """Return the packets since the last call."""
        with suppress(BlockingIOError):
            while True:
                packet, (_, _, direction, _, _) = self._socket.recvfrom(65_536)
                if direction != _OUTGOING:
                    self.traffic.to[aim_of(packet)] += 1
        return self.traffic

    @property
    def lost(self) -> int:
        """Return the packets that the kernel had to drop since the last call."""
        told = self._socket.getsockopt(263, 6, 8)  # SOL_PACKET, PACKET_STATISTICS
        return int(struct.unpack("II", told)[1])

    def close(self) -> None:
        """Stop reading."""
        self._socket.close()


def aim_of(packet: bytes) -> str:
    """Return an Ethernet frame's destination, with its port if it has one: "224.0.0.251 udp
    5353"."""
    (kind,) = struct.unpack_from("!H", packet, 12)
    if kind == _ARP:
        return f"arp {ip_address(packet[38:42])}"
    if kind == _IPV4:
        protocol, aim, behind = packet[23], packet[30:34], 14 + (packet[14] & 0x0F) * 4
    elif kind == _IPV6:
        protocol, aim, behind = packet[20], packet[38:54], 54
    else:
        return f"ethertype {kind:#06x}"
    names = {_TCP: "tcp", _UDP: "udp"}
    if protocol not in names:
        return f"{ip_address(aim)} protocol {protocol}"
    (port,) = struct.unpack_from("!H", packet, behind + 2)
    return f"{ip_address(aim)} {names[protocol]} {port}"


@contextmanager
def cable() -> Iterator[Cable]:
    """Yield a namespace with a cable to here, and a default route over it.

    Nothing prevents connections to anywhere. Only root can make one.
    """
    mark = os.getpid() % 100_000
    made = Cable(f"hearth-{mark}", f"hh{mark}", f"ht{mark}")
    run("ip", "netns", "add", made.namespace)
    try:
        run("ip", "link", "add", made.here, "type", "veth", "peer", "name", made.there)
        run("ip", "link", "set", made.there, "netns", made.namespace)
        run("ip", "address", "add", f"{HERE}/24", "dev", made.here)
        run("ip", "link", "set", made.here, "up")
        inside = ("ip", "-n", made.namespace)
        run(*inside, "link", "set", "lo", "up")
        run(*inside, "address", "add", f"{THERE}/24", "dev", made.there)
        run(*inside, "link", "set", made.there, "up")
        run(*inside, "route", "add", "default", "via", HERE)
        yield made
    finally:
        run("ip", "netns", "delete", made.namespace)  # its end goes with it, and so does ours
