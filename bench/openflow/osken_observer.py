"""Streams the links of os-ken's own topology discovery as events over HTTP.

os-ken as packaged has no HTTP interface. This is a minimal one: the link's own to_dict() as JSON, on eventlet's server, in
the same process.
"""
import json
import os

import eventlet
import eventlet.wsgi
from os_ken.base import app_manager
from os_ken.controller.handler import set_ev_cls
from os_ken.lib import hub
from os_ken.topology import event, switches


class Observer(app_manager.OSKenApp):
    _CONTEXTS = {"switches": switches.Switches}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.subscribers = []
        hub.spawn(self.serve)

    def serve(self):
        listener = eventlet.listen(("127.0.0.1", int(os.environ["OBSERVER_PORT"])))
        eventlet.wsgi.server(listener, self.stream, log_output=False, minimum_chunk_size=1)

    def stream(self, environ, start_response):
        start_response("200 OK", [("Content-Type", "text/event-stream")])
        queue = hub.Queue()
        self.subscribers.append(queue)
        yield b": connected\n\n"
        while True:
            yield queue.get()

    def publish(self, what, link):
        record = "event: %s\ndata: %s\n\n" % (what, json.dumps(link.to_dict()))
        for queue in self.subscribers:
            queue.put(record.encode())

    @set_ev_cls(event.EventLinkAdd)
    def added(self, ev):
        self.publish("added", ev.link)

    @set_ev_cls(event.EventLinkDelete)
    def removed(self, ev):
        self.publish("removed", ev.link)
