"""A second controller for the tests: a minimal learning switch on os-ken.

Frames without a matching flow are sent to this controller and flooded. Once both addresses are known, a flow is installed.
It does not know Gazetteer, like any other controller.
"""
from os_ken.base import app_manager
from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, MAIN_DISPATCHER, set_ev_cls
from os_ken.lib.packet import ether_types, ethernet, packet
from os_ken.ofproto import ofproto_v1_3


class LearningSwitch(app_manager.OSKenApp):
    OFP_VERSIONS = [ofproto_v1_3.OFP_VERSION]

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.ports_by_mac = {}

    def add_flow(self, datapath, priority, match, port):
        proto, parser = datapath.ofproto, datapath.ofproto_parser
        actions = [parser.OFPActionOutput(port, proto.OFPCML_NO_BUFFER)]
        instructions = [parser.OFPInstructionActions(proto.OFPIT_APPLY_ACTIONS, actions)]
        datapath.send_msg(
            parser.OFPFlowMod(datapath=datapath, priority=priority, match=match, instructions=instructions)
        )

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def connected(self, ev):
        datapath = ev.msg.datapath
        self.add_flow(datapath, 0, datapath.ofproto_parser.OFPMatch(), datapath.ofproto.OFPP_CONTROLLER)

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def packet_in(self, ev):
        msg = ev.msg
        datapath = msg.datapath
        proto, parser = datapath.ofproto, datapath.ofproto_parser
        in_port = msg.match["in_port"]
        frame = packet.Packet(msg.data).get_protocol(ethernet.ethernet)
        if frame.ethertype == ether_types.ETH_TYPE_LLDP:
            return
        ports_by_mac = self.ports_by_mac.setdefault(datapath.id, {})
        ports_by_mac[frame.src] = in_port
        out = ports_by_mac.get(frame.dst, proto.OFPP_FLOOD)
        if out != proto.OFPP_FLOOD:
            match = parser.OFPMatch(in_port=in_port, eth_src=frame.src, eth_dst=frame.dst)
            self.add_flow(datapath, 1, match, out)
        datapath.send_msg(
            parser.OFPPacketOut(
                datapath=datapath,
                buffer_id=proto.OFP_NO_BUFFER,
                in_port=in_port,
                actions=[parser.OFPActionOutput(out)],
                data=msg.data,
            )
        )
