"""
Starts the responder of snmpsim as many agents in one engine: a request is answered from the recording whose name is the
number of the endpoint that received it. snmpsim 1.2.2 can select recordings by endpoint only under names of methods that
pysnmp 7 no longer calls. One engine for each agent would take half a second of processor time each to start.
"""

import sys

from pysnmp.entity.rfc3413 import cmdrsp
from snmpsim.commands import responder


def answer_from_recording_of_endpoint(kind):
    base = getattr(cmdrsp, kind)

    def handle(self, engine, state, context_name, pdu):
        request = engine.observer.get_execution_context("rfc3412.receiveMessage:request")
        recording = str(request["transportDomain"][-1]).encode()
        base.handle_management_operation(self, engine, state, recording, pdu)

    getattr(responder, kind).handle_management_operation = handle


for kind in ("GetCommandResponder", "NextCommandResponder", "BulkCommandResponder"):
    answer_from_recording_of_endpoint(kind)
sys.exit(responder.main())
