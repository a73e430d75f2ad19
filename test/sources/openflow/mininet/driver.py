"""Controls Mininet: reads one JSON command per line and writes one JSON reply per line.

The tests compare the service with the network that Mininet reports.

Names of interfaces and bridges are global on a machine, so only one driver runs at a time; the next waits for a lock.
What a killed driver left behind is removed by name, because Mininet's own clean-up would remove all networks.

No command may hang: the programs of Open vSwitch wait without end for a daemon that does not run, and Mininet for a shell
that does not answer. The former fail after OVS_SECONDS; after COMMAND_SECONDS the driver prints where it is, and ends.
"""
import faulthandler
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
from functools import partial

from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.node import OVSSwitch, RemoteController
from mininet.topo import LinearTopo, Topo
from mininet.topolib import TorusTopo, TreeTopo


class RingTopo(Topo):
    def build(self, n=4):
        switches = [self.addSwitch("s%d" % (i + 1)) for i in range(n)]
        for i, switch in enumerate(switches):
            self.addLink(self.addHost("h%d" % (i + 1)), switch)
        for i in range(n):
            self.addLink(switches[i], switches[(i + 1) % n])


class Controller(RemoteController):
    def checkListening(self):
        """Not checked. Mininet would run telnet, which on a busy machine at times does not end; the tests wait for sessions."""


TOPOLOGIES = {
    "linear": lambda: LinearTopo(4),
    "tree": lambda: TreeTopo(depth=2, fanout=3),
    "ring": lambda: RingTopo(n=4),
    "torus": lambda: TorusTopo(3, 3),
}


OVS_SECONDS = 60
COMMAND_SECONDS = 100


def run_silently(*command):
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


class Driver:
    net = None

    def __init__(self, lock):
        self.lock = lock
        lock.seek(0)
        self.remove_leftovers(json.loads(lock.read() or "[]"))

    def ready(self):
        return {}

    def remove_leftovers(self, names):
        for name in names:
            run_silently("ovs-vsctl", "--if-exists", "del-br", name)
            run_silently("ip", "link", "delete", name)

    def store_names(self, names):
        """Stores the names to create, so that the next driver can remove them if this process is killed."""
        self.lock.seek(0)
        self.lock.truncate()
        self.lock.write(json.dumps(names))
        self.lock.flush()

    def start(self, topology, port, protocol="tcp", others=(), address="127.0.0.1"):
        topo = TOPOLOGIES[topology]()
        # Before anything exists.
        self.store_names(topo.switches() + ["%s-eth%d" % (s, port) for s in topo.switches() for port in topo.ports[s]])
        switch = partial(OVSSwitch, datapath="user", protocols="OpenFlow13", failMode="secure")
        self.net = Mininet(
            topo=topo,
            switch=switch,
            controller=None,
            autoSetMacs=True,
        )
        self.net.addController("c0", controller=Controller, ip=address, port=port, protocol=protocol)
        for number, other in enumerate(others, 1):
            self.net.addController("c%d" % number, controller=Controller, ip="127.0.0.1", port=other)
        self.net.start()
        return self.describe()

    def describe(self):
        def end(intf):
            return {"device": "of:" + intf.node.dpid, "port": str(intf.node.ports[intf])}

        links, hosts = [], []
        for link in self.net.links:
            a, b = link.intf1, link.intf2
            if a.node in self.net.switches and b.node in self.net.switches:
                links.append([end(a), end(b)])
            else:
                host, edge = (a, b) if b.node in self.net.switches else (b, a)
                hosts.append({"name": host.node.name, "mac": host.MAC().upper(), "ip": host.IP(), "at": end(edge)})
        ports = {
            "of:" + s.dpid: sorted(str(n) for i, n in s.ports.items() if i.name != "lo") for s in self.net.switches
        }
        names = {s.name: "of:" + s.dpid for s in self.net.switches}
        return {"links": links, "hosts": hosts, "ports": ports, "names": names}

    def pingall(self):
        return {"lost": self.net.pingAll(timeout="2")}

    def ping(self, source, target):
        target = self.net[target].IP()
        out = self.net[source].cmd("ping -c1 -W1 %s; echo status $?" % target)
        return {"ok": "status 0" in out}

    def start_pings(self, source, target):
        """Pings five times a second until `stop_pings`."""
        self.pings = self.net[source].popen("ping -i 0.2 %s" % self.net[target].IP(), text=True)
        return {}

    def stop_pings(self):
        self.pings.send_signal(signal.SIGINT)
        out, _ = self.pings.communicate()
        sent, received = re.search(r"(\d+) packets transmitted, (\d+) received", out).groups()
        return {"lost": int(sent) - int(received)}

    def link(self, a, b, state):
        self.net.configLinkStatus(a, b, state)
        return {}

    def switch(self, name, action):
        switch = self.net[name]
        if action == "stop":
            switch.stop(deleteIntfs=False)
        else:
            switch.start(self.net.controllers)
        return {}

    def move(self, host, source, target):
        node, old, new = self.net[host], self.net[source], self.net[target]
        ip, mac = node.IP(), node.MAC()
        self.net.delLinkBetween(node, old)
        for intf in [i for i in old.ports if i.link is None or i not in old.intfList()]:
            old.detach(intf)
        link = self.net.addLink(node, new)
        new.attach(link.intf2 if link.intf2.node is new else link.intf1)
        node.setMAC(mac)
        node.setIP(ip, 8)
        node.cmd("ping -c1 -W1 10.255.255.254")
        edge = link.intf2 if link.intf2.node is new else link.intf1
        return {"device": "of:" + new.dpid, "port": str(new.ports[edge])}

    def frames(self):
        """The number of frames sent so far by all ports of all switches."""
        total = 0
        for switch in self.net.switches:
            for intf in switch.intfList():
                if intf.name != "lo":
                    with open("/sys/class/net/%s/statistics/tx_packets" % intf.name) as file:
                        total += int(file.read())
        return {"frames": total}

    def shell(self, command):
        done = subprocess.run(command, shell=True, capture_output=True, text=True)
        return {"status": done.returncode, "out": done.stdout + done.stderr}

    def stop(self):
        if self.net:
            self.net.stop()
            self.net = None
        self.store_names([])
        return {}


def main():
    setLogLevel("critical")
    os.environ["OVS_CTL_TIMEOUT"] = str(OVS_SECONDS)
    # Not in TMPDIR, which is another folder for each suite.
    with open("/tmp/gazetteer-mininet.lock", "a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        driver = Driver(lock)
        try:
            for line in sys.stdin:
                command = json.loads(line)
                faulthandler.dump_traceback_later(COMMAND_SECONDS, exit=True)
                try:
                    reply = getattr(driver, command.pop("do"))(**command)
                except Exception as error:  # The test decides what a failure means.
                    reply = {"error": "%s: %s" % (type(error).__name__, error)}
                finally:
                    faulthandler.cancel_dump_traceback_later()
                print(json.dumps(reply), flush=True)
        finally:
            driver.stop()


main()
