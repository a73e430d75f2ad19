"""A second controller for the tests: os-ken with the least that makes hosts talk, a switch that learns.

What no flow matches comes here and is flooded, and once both ends of a conversation are known a flow carries it. Not one
word about Gazetteer: it is what any controller would be.
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
        self.places = {}

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
        places = self.places.setdefault(datapath.id, {})
        places[frame.src] = in_port
        out = places.get(frame.dst, proto.OFPP_FLOOD)
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
