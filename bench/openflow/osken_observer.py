"""os-ken's own topology discovery, observed: one line on standard output for every link that appears or goes."""
import sys
import time

from os_ken.base import app_manager
from os_ken.controller.handler import set_ev_cls
from os_ken.topology import event, switches


class Observer(app_manager.OSKenApp):
    _CONTEXTS = {"switches": switches.Switches}

    def tell(self, link, sign):
        ends = (link.src.dpid, link.src.port_no, link.dst.dpid, link.dst.port_no)
        sys.stdout.write("%s of:%016x/%d-of:%016x/%d %.3f\n" % ((sign,) + ends + (time.time() * 1000,)))
        sys.stdout.flush()

    @set_ev_cls(event.EventLinkAdd)
    def added(self, ev):
        self.tell(ev.link, "+")

    @set_ev_cls(event.EventLinkDelete)
    def removed(self, ev):
        self.tell(ev.link, "-")
