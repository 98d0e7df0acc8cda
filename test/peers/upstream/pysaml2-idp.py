"""A small SAML identity provider on pysaml2, for one service provider. Its sessions are in memory, one a browser.

    python pysaml2-idp.py CONFIGURATION.json

The configuration: port, key, certificate, more_certificates (files, published beside it), service_provider (its metadata, a file),
subjects (a file, for the NameIDs), user, password, attributes.
"""
import json
import re
import secrets
import sys
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.config import IdPConfig
from saml2.metadata import entity_descriptor
from saml2.saml import AUTHN_PASSWORD_PROTECTED, NAMEID_FORMAT_PERSISTENT
from saml2.server import Server
from saml2.xmldsig import DIGEST_SHA256, SIG_RSA_SHA256

with open(sys.argv[1]) as file:
    SETTINGS = json.load(file)
ORIGIN = f"http://127.0.0.1:{SETTINGS['port']}"

CONFIG = IdPConfig().load(
    {
        "entityid": f"{ORIGIN}/metadata",
        "key_file": SETTINGS["key"],
        "cert_file": SETTINGS["certificate"],
        "additional_cert_files": SETTINGS["more_certificates"],
        "xmlsec_binary": "/usr/bin/xmlsec1",
        "metadata": {"local": [SETTINGS["service_provider"]]},
        "service": {
            "idp": {
                "name_id_format": [NAMEID_FORMAT_PERSISTENT],
                "subject_data": SETTINGS["subjects"],
                "want_authn_requests_signed": True,
                "sign_response": True,
                "sign_assertion": True,
                "policy": {"default": {"attribute_restrictions": None, "name_form": "urn:oasis:names:tc:SAML:2.0:attrname-format:basic"}},
                "endpoints": {
                    "single_sign_on_service": [(f"{ORIGIN}/sso", BINDING_HTTP_REDIRECT)],
                    "single_logout_service": [(f"{ORIGIN}/slo", BINDING_HTTP_REDIRECT)],
                },
            }
        },
    }
)
IDP = Server(config=CONFIG)
# Cookie -> the NameID, the entity ID and the SessionIndex of each service provider.
SESSIONS = {}
# Requests that wait for a password.
WAITING = {}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        url = urlparse(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path == "/metadata":
            return self.answer(200, str(entity_descriptor(CONFIG)), "application/samlmetadata+xml")
        if url.path == "/sso":
            return self.single_sign_on(query)
        if url.path == "/slo" and "SAMLRequest" in query:
            return self.end_by_request(query)
        if url.path == "/slo":
            return self.answer(200, "<h1>Signed out</h1>")
        if url.path == "/logout":
            return self.sign_out()
        return self.answer(404, "<h1>Not found</h1>")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        waiting = WAITING.pop(form.get("key", ""), None)
        if not waiting or form.get("username") != SETTINGS["user"] or form.get("password") != SETTINGS["password"]:
            return self.answer(401, "<h1>Wrong password</h1>")
        cookie = secrets.token_urlsafe()
        SESSIONS[cookie] = []
        return self.send_assertion(cookie, *waiting)

    def single_sign_on(self, query):
        signature = {"sigalg": query.get("SigAlg"), "signature": query.get("Signature")}
        relay_state = query.get("RelayState")
        request = IDP.parse_authn_request(query["SAMLRequest"], BINDING_HTTP_REDIRECT, relay_state, **signature).message
        if self.cookie() in SESSIONS and request.force_authn != "true":
            return self.send_assertion(self.cookie(), request, relay_state)
        key = secrets.token_urlsafe()
        WAITING[key] = (request, relay_state)
        return self.answer(
            200,
            f'<h1>Sign in</h1><form method="post" action="/password"><input type="hidden" name="key" value="{key}">'
            '<input name="username"><input name="password" type="password"><button>Sign in</button></form>',
        )

    def send_assertion(self, cookie, request, relay_state):
        arguments = IDP.response_args(request, [BINDING_HTTP_POST])
        arguments.pop("binding", None)
        authn = {"class_ref": AUTHN_PASSWORD_PROTECTED, "authn_auth": ORIGIN}
        # Its default is SHA-1.
        algorithms = {"sign_alg": SIG_RSA_SHA256, "digest_alg": DIGEST_SHA256}
        who = {"userid": SETTINGS["user"], "authn": authn}
        response = str(IDP.create_authn_response(SETTINGS["attributes"], **who, **algorithms, **arguments))
        provider = arguments["sp_entity_id"]
        name_id = next(one for one in IDP.ident.find_nameid(SETTINGS["user"]) if one.sp_name_qualifier == provider)
        SESSIONS[cookie].append((name_id, provider, re.search('SessionIndex="([^"]+)"', response)[1]))
        sent = IDP.apply_binding(BINDING_HTTP_POST, response, arguments["destination"], relay_state or "", response=True)
        self.answer(200, sent["data"], headers={"Set-Cookie": f"idp={cookie}; Path=/; HttpOnly"})

    def end_by_request(self, query):
        """The service provider ends the session."""
        signature = {"sigalg": query.get("SigAlg"), "signature": query.get("Signature")}
        relay_state = query.get("RelayState")
        request = IDP.parse_logout_request(query["SAMLRequest"], BINDING_HTTP_REDIRECT, relay_state, **signature).message
        named = {one.text for one in request.session_index}
        for cookie, providers in list(SESSIONS.items()):
            if any(name_id.text == request.name_id.text and index in named for name_id, _, index in providers):
                del SESSIONS[cookie]
        response = IDP.create_logout_response(request, [BINDING_HTTP_REDIRECT], sign=False)
        sent = self.redirect_of(response.destination, response, relay_state or "", True)
        self.answer(303, "", headers={"Location": sent})

    def sign_out(self):
        """The user ends the session here: the service provider gets a LogoutRequest, and its answer comes to /slo."""
        providers = SESSIONS.pop(self.cookie(), [])
        if not providers:
            return self.answer(200, "<h1>Signed out</h1>")
        name_id, provider, _ = providers[-1]
        [endpoint] = IDP.metadata.single_logout_service(provider, BINDING_HTTP_REDIRECT, "spsso")
        indexes = [index for _, one, index in providers if one == provider]
        _, request = IDP.create_logout_request(endpoint["location"], provider, name_id=name_id, session_indexes=indexes, sign=False)
        return self.answer(303, "", headers={"Location": self.redirect_of(endpoint["location"], request, "", False)})

    @staticmethod
    def redirect_of(destination, message, relay_state, response):
        sent = IDP.apply_binding(
            BINDING_HTTP_REDIRECT, str(message), destination, relay_state, response=response, sign=True, sigalg=SIG_RSA_SHA256
        )
        return dict(sent["headers"])["Location"]

    def cookie(self):
        found = SimpleCookie(self.headers.get("Cookie", "")).get("idp")
        return found.value if found else ""

    def answer(self, status, text, content_type="text/html; charset=utf-8", headers=None):
        body = text.encode()
        self.send_response(status)
        for name, value in {"Content-Type": content_type, "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("127.0.0.1", SETTINGS["port"]), Handler).serve_forever()
