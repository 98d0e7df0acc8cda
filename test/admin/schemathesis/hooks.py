# For schemathesis (docs/conformance.md): a token, and requests that reach further than random ones do.
import base64
import json
import random
import urllib.parse
import urllib.request
import uuid

import schemathesis

ISSUER = "http://localhost:4555"
API = ISSUER + "/api/admin"
CLIENT = "admin-script"
SECRET = "at-least-32-bytes-for-the-admin-script-too"
# Where the ids of a path are listed.
LISTS = {
    "/api/admin/applications/{id}": "/applications",
    "/api/admin/connections/{id}": "/connections",
    "/api/admin/resources/{identifier}": "/resources",
    "/api/admin/roles/{id}": "/roles",
    "/api/admin/users/{id}": "/users",
}


def token():
    form = {"grant_type": "client_credentials", "resource": API, "scope": "admin:*"}
    basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
    request = urllib.request.Request(
        ISSUER + "/token",
        data=urllib.parse.urlencode(form).encode(),
        headers={"Authorization": "Basic " + basic},
    )
    return json.load(urllib.request.urlopen(request))["access_token"]


@schemathesis.auth(refresh_interval=60)
class Service:
    def get(self, case, ctx):
        return token()

    def set(self, case, data, ctx):
        case.headers = case.headers or {}
        case.headers["Authorization"] = "Bearer " + data


def stored_ids(path):
    request = urllib.request.Request(API + path, headers={"Authorization": "Bearer " + token()})
    items = json.load(urllib.request.urlopen(request))["items"]
    # Without the caller's own client there are no more answers to see.
    return [one.get("id") or one["identifier"] for one in items if one.get("identifier") != CLIENT]


@schemathesis.hook
def before_call(ctx, case, kwargs):
    if not case.meta or case.meta.generation.mode == schemathesis.GenerationMode.NEGATIVE:
        return
    # schemathesis sends one key for many requests, which is an error by itself.
    if "Idempotency-Key" in (case.headers or {}):
        case.headers["Idempotency-Key"] = str(uuid.uuid4())
    if str(case.meta.phase.name) != "fuzzing":
        return
    for start, path in LISTS.items():
        if case.path.startswith(start) and random.random() < 0.7:
            ids = stored_ids(path)
            if ids:
                name = start[start.index("{") + 1 : -1]
                case.path_parameters[name] = urllib.parse.quote(random.choice(ids), safe="")
                if "If-Match" in (case.headers or {}):
                    case.headers["If-Match"] = "*"
