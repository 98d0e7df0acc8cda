
CREATE TABLE public._prisma_migrations (
    id character varying(36) NOT NULL,
    checksum character varying(64) NOT NULL,
    finished_at timestamp with time zone,
    migration_name character varying(255) NOT NULL,
    logs text,
    rolled_back_at timestamp with time zone,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    applied_steps_count integer DEFAULT 0 NOT NULL
);

CREATE TABLE public.application_roles (
    application_id text NOT NULL,
    role_id text NOT NULL
);

CREATE TABLE public.applications (
    id text NOT NULL,
    client_id text NOT NULL,
    protocol text NOT NULL,
    name text NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    consent text DEFAULT 'explicit'::text NOT NULL,
    access text DEFAULT 'everyone'::text NOT NULL,
    metadata text NOT NULL,
    source text DEFAULT 'local'::text NOT NULL,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) without time zone NOT NULL
);

CREATE TABLE public.audit_chain (
    id text NOT NULL,
    seq integer NOT NULL,
    hash text NOT NULL,
    mac text NOT NULL
);

CREATE TABLE public.audit_events (
    id integer NOT NULL,
    at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    type text NOT NULL,
    outcome text NOT NULL,
    reason text,
    actor_id text,
    subject_id text,
    client_id text,
    address text,
    user_agent text,
    request_id text,
    data text DEFAULT '{}'::text NOT NULL,
    actor_app text,
    chain_hash text,
    chain_seq integer
);

CREATE SEQUENCE public.audit_events_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.audit_events_id_seq OWNED BY public.audit_events.id;

CREATE TABLE public.client_secrets (
    id text NOT NULL,
    application_id text NOT NULL,
    secret_hash text,
    secret_sealed text,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    expires_at timestamp(3) without time zone
);

CREATE TABLE public.consents (
    id text NOT NULL,
    user_id text NOT NULL,
    application_id text NOT NULL,
    granted text NOT NULL,
    granted_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) without time zone NOT NULL
);

CREATE TABLE public.idempotency_keys (
    id text NOT NULL,
    request_hash text NOT NULL,
    response_sealed text,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    expires_at timestamp(3) without time zone NOT NULL
);

CREATE TABLE public.job_locks (
    name text NOT NULL,
    holder text NOT NULL,
    locked_until timestamp(3) without time zone NOT NULL
);

CREATE TABLE public.known_browsers (
    id text NOT NULL,
    user_id text NOT NULL,
    token_hash text NOT NULL,
    user_agent text,
    address text,
    trusted_until timestamp(3) without time zone,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    last_seen_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    expires_at timestamp(3) without time zone NOT NULL
);

CREATE TABLE public.logout_deliveries (
    id text NOT NULL,
    client_id text NOT NULL,
    account_id text NOT NULL,
    sid text,
    tries integer DEFAULT 0 NOT NULL,
    next_try_at timestamp(3) without time zone NOT NULL,
    done_at timestamp(3) without time zone,
    failed_at timestamp(3) without time zone,
    last_error text,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    channel text DEFAULT 'back'::text NOT NULL,
    participant_id text
);

CREATE TABLE public.logout_participants (
    id text NOT NULL,
    run_id text NOT NULL,
    "position" integer NOT NULL,
    client_id text NOT NULL,
    protocol text NOT NULL,
    name text NOT NULL,
    channel text NOT NULL,
    data text DEFAULT '{}'::text NOT NULL,
    state text NOT NULL,
    reason text,
    reach text,
    message_id text,
    deadline timestamp(3) without time zone,
    settled_at timestamp(3) without time zone
);

CREATE TABLE public.logout_runs (
    id text NOT NULL,
    browser_hash text,
    user_id text NOT NULL,
    reason text NOT NULL,
    asked_by text,
    answer text DEFAULT '{}'::text NOT NULL,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    seen_at timestamp(3) without time zone NOT NULL,
    finished_at timestamp(3) without time zone,
    expires_at timestamp(3) without time zone NOT NULL
);

CREATE TABLE public.mail_messages (
    id text NOT NULL,
    recipient text NOT NULL,
    subject text NOT NULL,
    body_sealed text NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    next_try_at timestamp(3) without time zone NOT NULL,
    sent_at timestamp(3) without time zone,
    failed_at timestamp(3) without time zone,
    last_error text,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE public.mail_tokens (
    id text NOT NULL,
    user_id text NOT NULL,
    purpose text NOT NULL,
    token_hash text NOT NULL,
    data text DEFAULT '{}'::text NOT NULL,
    expires_at timestamp(3) without time zone NOT NULL,
    used_at timestamp(3) without time zone,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE public.oidc_artifacts (
    id text NOT NULL,
    model text NOT NULL,
    payload text NOT NULL,
    grant_id text,
    user_code text,
    uid text,
    account_id text,
    client_id text,
    consumed_at bigint,
    expires_at bigint
);

CREATE TABLE public.one_time_codes (
    id text NOT NULL,
    user_id text NOT NULL,
    channel text NOT NULL,
    code_hash text NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    expires_at timestamp(3) without time zone NOT NULL,
    used_at timestamp(3) without time zone,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE public.passkeys (
    id text NOT NULL,
    user_id text NOT NULL,
    name text NOT NULL,
    public_key bytea NOT NULL,
    counter bigint DEFAULT 0 NOT NULL,
    transports text DEFAULT '[]'::text NOT NULL,
    aaguid text,
    backed_up boolean DEFAULT false NOT NULL,
    discoverable boolean DEFAULT false NOT NULL,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    last_used_at timestamp(3) without time zone,
    user_verified boolean DEFAULT false NOT NULL
);

CREATE TABLE public.password_credentials (
    user_id text NOT NULL,
    hash text NOT NULL,
    must_change boolean DEFAULT false NOT NULL,
    long boolean DEFAULT false NOT NULL,
    changed_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE public.password_reset_tokens (
    id text NOT NULL,
    user_id text NOT NULL,
    token_hash text NOT NULL,
    expires_at timestamp(3) without time zone NOT NULL,
    used_at timestamp(3) without time zone,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE public.permissions (
    id text NOT NULL,
    resource text NOT NULL,
    action text NOT NULL
);

CREATE TABLE public.phone_factors (
    user_id text NOT NULL,
    number text NOT NULL,
    confirmed_at timestamp(3) without time zone NOT NULL
);

CREATE TABLE public.rate_limits (
    key text NOT NULL,
    points integer NOT NULL,
    expires_at bigint
);

CREATE TABLE public.recovery_codes (
    id text NOT NULL,
    user_id text NOT NULL,
    code_hash text NOT NULL,
    used_at timestamp(3) without time zone,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE public.refusals (
    id text NOT NULL,
    at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    endpoint text NOT NULL,
    reason text NOT NULL,
    message text NOT NULL,
    client_id text,
    subject_id text,
    request_id text NOT NULL,
    data text NOT NULL,
    expires_at timestamp(3) without time zone NOT NULL
);

CREATE TABLE public.resources (
    identifier text NOT NULL,
    scopes text NOT NULL,
    signing_alg text DEFAULT 'RS256'::text NOT NULL,
    source text DEFAULT 'local'::text NOT NULL,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE public.retired_subjects (
    id text NOT NULL,
    retired_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE public.role_permissions (
    role_id text NOT NULL,
    permission_id text NOT NULL
);

CREATE TABLE public.roles (
    id text NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    source text DEFAULT 'local'::text NOT NULL,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE public.rp_sessions (
    id text NOT NULL,
    user_id text NOT NULL,
    sso_uid text NOT NULL,
    sid text,
    acr text,
    amr text DEFAULT '[]'::text NOT NULL,
    auth_time timestamp(3) without time zone NOT NULL,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    expires_at timestamp(3) without time zone NOT NULL
);

CREATE TABLE public.saml_name_ids (
    id text NOT NULL,
    user_id text NOT NULL,
    application_id text NOT NULL,
    value text NOT NULL,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE public.saml_participants (
    id text NOT NULL,
    session_uid text NOT NULL,
    user_id text NOT NULL,
    application_id text NOT NULL,
    name_id text NOT NULL,
    name_id_format text NOT NULL,
    name_qualifier text,
    sp_name_qualifier text,
    session_index text NOT NULL,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    expires_at timestamp(3) without time zone NOT NULL
);

CREATE TABLE public.saml_requests (
    id text NOT NULL,
    application_id text NOT NULL,
    request_id text,
    browser_hash text NOT NULL,
    data text NOT NULL,
    used_at timestamp(3) without time zone,
    expires_at timestamp(3) without time zone NOT NULL
);

CREATE TABLE public.seen_messages (
    id text NOT NULL,
    expires_at timestamp(3) without time zone NOT NULL
);

CREATE TABLE public.session_devices (
    uid text NOT NULL,
    user_id text NOT NULL,
    user_agent text NOT NULL,
    address text NOT NULL,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    last_seen_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    expires_at timestamp(3) without time zone NOT NULL,
    browser_id text
);

CREATE TABLE public.settings (
    key text NOT NULL,
    value text NOT NULL,
    source text DEFAULT 'local'::text NOT NULL,
    updated_at timestamp(3) without time zone NOT NULL
);

CREATE TABLE public.sign_in_attempts (
    uid text NOT NULL,
    user_id text,
    factors text DEFAULT '[]'::text NOT NULL,
    data text DEFAULT '{}'::text NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    expires_at timestamp(3) without time zone NOT NULL
);

CREATE TABLE public.signing_keys (
    id text NOT NULL,
    use text NOT NULL,
    alg text NOT NULL,
    public_jwk text NOT NULL,
    private_sealed text NOT NULL,
    certificate text,
    state text NOT NULL,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    activated_at timestamp(3) without time zone,
    retired_at timestamp(3) without time zone,
    certificate_until timestamp(3) without time zone
);

CREATE TABLE public.totp_credentials (
    user_id text NOT NULL,
    secret_sealed text NOT NULL,
    confirmed_at timestamp(3) without time zone,
    last_step bigint DEFAULT 0 NOT NULL,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE public.user_roles (
    user_id text NOT NULL,
    role_id text NOT NULL
);

CREATE TABLE public.users (
    id text NOT NULL,
    username text NOT NULL,
    username_key text NOT NULL,
    email text,
    email_key text,
    email_verified boolean DEFAULT false NOT NULL,
    name text,
    given_name text,
    family_name text,
    picture text,
    locale text,
    zoneinfo text,
    phone_number text,
    attributes text DEFAULT '{}'::text NOT NULL,
    sso_id text,
    is_active boolean DEFAULT true NOT NULL,
    source text DEFAULT 'local'::text NOT NULL,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) without time zone NOT NULL,
    search_key text DEFAULT ''::text NOT NULL
);

ALTER TABLE ONLY public.audit_events ALTER COLUMN id SET DEFAULT nextval('public.audit_events_id_seq'::regclass);

INSERT INTO public._prisma_migrations VALUES ('ff7d85d6-111a-4470-be18-0cc5a673bd91', '98dc1d79f5db55c202f41a0705c0bded3b156a3db87d94a1bb976299424822eb', '2026-11-23 02:40:52.598+00', '20261121091642_init', NULL, NULL, '2026-11-23 02:40:52.424+00', 1);
INSERT INTO public._prisma_migrations VALUES ('491cd417-85a7-49f3-832f-7b88aa3ac977', 'f6f216566691f838e9099be6bc6a62592e9ec8a88d4881307636cfda0a92f195', '2026-11-23 02:40:52.638+00', '20261121102220_lean_artifacts', NULL, NULL, '2026-11-23 02:40:52.602+00', 1);
INSERT INTO public._prisma_migrations VALUES ('c649bd1d-eba9-4613-a689-18636017da84', '0d8fb3853573289b151a76403336c84244e4ce7b03930c8f194c4adc00e9bf2a', '2026-11-23 02:40:52.698+00', '20261121102420_audit_chain_and_admin_api', NULL, NULL, '2026-11-23 02:40:52.659+00', 1);
INSERT INTO public._prisma_migrations VALUES ('e0348e0d-e495-4aa5-8022-14d537080687', 'a69b7edd10ac71913e8e950435a36203df3ea2e1fe1091287555620614bdd6ba', '2026-11-23 02:40:52.736+00', '20261121102726_logout_runs', NULL, NULL, '2026-11-23 02:40:52.709+00', 1);
INSERT INTO public._prisma_migrations VALUES ('457cac66-9cb7-4446-9fb9-3cbf33212305', 'a9f88ff0ca51f5a3403ee6084d202f76d913777b4c8f7af3a2efba930be42ad0', '2026-11-23 02:40:52.76+00', '20261121104606_phone_factor_and_verified_passkeys', NULL, NULL, '2026-11-23 02:40:52.744+00', 1);
INSERT INTO public._prisma_migrations VALUES ('dcc3957f-0bcd-4902-9e14-cdcc06c51643', '569e501a5f8446be65b43903ecc40e0567a66dcbecdb0d77ea3ba0392456fa54', '2026-11-23 02:40:52.784+00', '20261121231829_refusals', NULL, NULL, '2026-11-23 02:40:52.766+00', 1);
INSERT INTO public._prisma_migrations VALUES ('4508f622-0fb6-44b5-98cf-d395086fd924', '5cfae981ebdfdfa76e69deb9d0eb1871b86c9e31d7fe75f3c259b382cbb38827', '2026-11-23 02:40:52.822+00', '20261122022102_list_indexes', NULL, NULL, '2026-11-23 02:40:52.798+00', 1);

INSERT INTO public.applications VALUES ('0XryWP8EUbuV2n0OnTfHHnRm', 'shop', 'oidc', 'Shop', true, 'implicit', 'everyone', '{"application_type":"web","redirect_uris":["http://127.0.0.1:4000/cb"],"post_logout_redirect_uris":[],"grant_types":["authorization_code","refresh_token"],"token_endpoint_auth_method":"client_secret_basic","id_token_signed_response_alg":"RS256","subject_type":"public","response_types":["code"]}', 'local', '2026-11-23 02:41:03.463', '2026-11-23 02:41:03.463');
INSERT INTO public.applications VALUES ('if6RFGV0qK9mPyMlLISy3WSb', 'https://wiki.example/metadata', 'saml', 'Wiki', true, 'implicit', 'everyone', '{"attributes":{},"sign":"assertion","encrypt_assertion":"auto","idp_initiated":false,"allow_sha1":false,"metadata_xml":"<md:EntityDescriptor xmlns:md=\"urn:oasis:names:tc:SAML:2.0:metadata\" entityID=\"https://wiki.example/metadata\"><md:SPSSODescriptor protocolSupportEnumeration=\"urn:oasis:names:tc:SAML:2.0:protocol\" WantAssertionsSigned=\"true\"><md:AssertionConsumerService index=\"0\" isDefault=\"true\" Binding=\"urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST\" Location=\"http://127.0.0.1:4100/acs\"/></md:SPSSODescriptor></md:EntityDescriptor>\n"}', 'local', '2026-11-23 02:41:07.413', '2026-11-23 02:41:07.413');

INSERT INTO public.audit_chain VALUES ('head', 16, 'ccc4aa0a6c12b2a96f42c60801a6b5cbca0967751d0fa9935858c05733b93ba1', 'nq9DUgzCIWT_NJbjm9y0fegw6PX0F-41z_tMi0-Kwfk');

INSERT INTO public.audit_events VALUES (1, '2026-11-23 02:40:54.222', 'role.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"after":{"name":"admin","description":"May do everything in Gatehouse","permissions":["gatehouse.users:read","gatehouse.sessions:read","gatehouse.applications:read","gatehouse.roles:read","gatehouse.keys:read","gatehouse.audit:read","gatehouse.settings:read","gatehouse.mail:read","gatehouse.users:write","gatehouse.sessions:write","gatehouse.applications:write","gatehouse.roles:write","gatehouse.keys:write","gatehouse.audit:write","gatehouse.settings:write","gatehouse.mail:write","gatehouse.users:unlock","gatehouse.users:reset-factors","gatehouse.users:reset-password","gatehouse.sessions:end"]}}', NULL, 'bdd86afb91403a1329cbd5338f1440fc317ac6d214394152263479254e258e78', 1);
INSERT INTO public.audit_events VALUES (2, '2026-11-23 02:40:54.458', 'role.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"after":{"name":"auditor","description":"May look at everything in Gatehouse and change nothing","permissions":["gatehouse.users:read","gatehouse.sessions:read","gatehouse.applications:read","gatehouse.roles:read","gatehouse.keys:read","gatehouse.audit:read","gatehouse.settings:read","gatehouse.mail:read"]}}', NULL, '034c097ffb798ab22432fdada75f64a2ec0e60d4270db86fb63de2297feaaf40', 2);
INSERT INTO public.audit_events VALUES (3, '2026-11-23 02:40:54.624', 'role.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"after":{"name":"support","description":"May help people who cannot get in: unlock, reset factors and passwords, end sessions","permissions":["gatehouse.users:read","gatehouse.users:unlock","gatehouse.users:reset-factors","gatehouse.users:reset-password","gatehouse.sessions:read","gatehouse.sessions:end","gatehouse.audit:read"]}}', NULL, 'a4f041f4fdfc16ab60f8b936cbf9bf1b633cd56880c440ac6fbf9508a637a761', 3);
INSERT INTO public.audit_events VALUES (4, '2026-11-23 02:40:55.228', 'account.created', 'success', NULL, NULL, 'vXOlvHwVOugeZc5UCJdt2TkV', NULL, NULL, NULL, NULL, '{"after":{"name":"Ann Example","username":"ann","email":"ann@example.com","emailVerified":true}}', NULL, '0eb13fda343d8022aaefda93cb73146bbb0f24061f21314c55850892d28e95eb', 4);
INSERT INTO public.audit_events VALUES (5, '2026-11-23 02:40:55.382', 'password.set', 'success', NULL, NULL, 'vXOlvHwVOugeZc5UCJdt2TkV', NULL, NULL, NULL, NULL, '{"mustChange":false}', NULL, 'd0be31cceecdec37a8897a0a6e065695024835383792f0e199ff85e8713ebcfc', 5);
INSERT INTO public.audit_events VALUES (6, '2026-11-23 02:40:59.331', 'account.created', 'success', NULL, NULL, 'tHd94_X_gZNumCL0sTOuKyTY', NULL, NULL, NULL, NULL, '{"after":{"name":"Root","username":"root","email":"root@example.com","emailVerified":false}}', NULL, '0b12067142369bff11cd363fb9a75b5726312a98ccfc876d459dd39bd91c9f4f', 6);
INSERT INTO public.audit_events VALUES (7, '2026-11-23 02:40:59.49', 'role.assigned', 'success', NULL, NULL, 'tHd94_X_gZNumCL0sTOuKyTY', NULL, NULL, NULL, NULL, '{"roleName":"admin"}', NULL, '6cd5ed89e5fb496e280c5c07fade0f65e0dfc44722420db61f4495aea00b1463', 7);
INSERT INTO public.audit_events VALUES (8, '2026-11-23 02:40:59.587', 'password.set', 'success', NULL, NULL, 'tHd94_X_gZNumCL0sTOuKyTY', NULL, NULL, NULL, NULL, '{"mustChange":false}', NULL, '557e0324d786a5c4571e370a263ce4c03ef3a88a43a665a1cb49eb1f280ec83c', 8);
INSERT INTO public.audit_events VALUES (9, '2026-11-23 02:41:03.666', 'application.created', 'success', NULL, NULL, NULL, 'shop', NULL, NULL, NULL, '{"name":"Shop","protocol":"oidc","source":"local","after":{"name":"Shop","consent":"implicit","access":"everyone","enabled":true,"source":"local","application_type":"web","redirect_uris":["http://127.0.0.1:4000/cb"],"post_logout_redirect_uris":[],"grant_types":["authorization_code","refresh_token"],"token_endpoint_auth_method":"client_secret_basic","id_token_signed_response_alg":"RS256","subject_type":"public","response_types":["code"]}}', NULL, 'c329a3da3e9df366158f843b1cd6e6dcaaee643a0b98d2f7ace73de9c21362c0', 9);
INSERT INTO public.audit_events VALUES (11, '2026-11-23 02:41:12.613', 'key.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"kid":"9_OVVMbg4MnsNQiCayOdfAEYtn3vM6qOvvLVhszq5WA","use":"oidc","alg":"RS256","state":"active","scheduled":true}', NULL, '0388fc11d477096d1e200e6d6b9c6e7366aa8c0534a2c33163dd700d638cf66c', 11);
INSERT INTO public.audit_events VALUES (16, '2026-11-23 02:41:14.995', 'server.started', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"node":"v20.20.2"}', NULL, 'ccc4aa0a6c12b2a96f42c60801a6b5cbca0967751d0fa9935858c05733b93ba1', 16);
INSERT INTO public.audit_events VALUES (10, '2026-11-23 02:41:07.485', 'application.created', 'success', NULL, NULL, NULL, 'https://wiki.example/metadata', NULL, NULL, NULL, '{"name":"Wiki","protocol":"saml","source":"local","after":{"name":"Wiki","consent":"implicit","access":"everyone","enabled":true,"source":"local","attributes":{},"sign":"assertion","encrypt_assertion":"auto","idp_initiated":false,"allow_sha1":false,"metadata_xml":"419 characters, SHA-256 ytC7carJEW9a3WTzoFrlUj65rLkTQAqLGuPQ2LnUdqM"}}', NULL, '756d3342684cf52d1286c2ae747dfdd9d97ab42422a14a6467b2cbee4560dd6c', 10);
INSERT INTO public.audit_events VALUES (12, '2026-11-23 02:41:12.651', 'key.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"kid":"tuXjYyn7DC44wyFoxP6WJbwiLDOKFlAx_rNk4IB9a9M","use":"oidc","alg":"RS256","state":"next","scheduled":true}', NULL, '36036c39ee4a13e31d80a9e9c533b2925c8ac4213687de3b9dc00411edbc403a', 12);
INSERT INTO public.audit_events VALUES (13, '2026-11-23 02:41:12.682', 'key.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"kid":"8rHGYg5yDqi45iQHBqDbrZCe7WFeAxvgL-tNwHyW0sA","use":"oidc","alg":"ES256","state":"active","scheduled":true}', NULL, 'a691599473637391df6b8cd661ff3fc4a0f32fc9c26ae6481746b76094324bed', 13);
INSERT INTO public.audit_events VALUES (14, '2026-11-23 02:41:12.71', 'key.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"kid":"P89_SlvaEBlA0PkXbpU5IS7g9LROMlSs84DXyNxJ4gY","use":"oidc","alg":"ES256","state":"next","scheduled":true}', NULL, '695a4b08cef08b9ca3ddb8810f2b7889a8f01028353dcc52ed5ba29f8cf13fb5', 14);
INSERT INTO public.audit_events VALUES (15, '2026-11-23 02:41:12.743', 'key.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"kid":"hGouPyP6sEB7lI_fa_U8BBbJ0Jbw7lLSwlxdqNlpsfw","use":"saml","alg":"RS256","state":"active","scheduled":true}', NULL, '0e9f7f2fa83bead07809afef165afc1157a7ffb55a8f58ab8cb5bfd37d557b19', 15);

INSERT INTO public.client_secrets VALUES ('ptj-LzjuBeWLLmllxVX1ueIN', '0XryWP8EUbuV2n0OnTfHHnRm', 'ACETretRo_VyHU1m0CE8auxxSJfuGB2SabiJldbse3w', NULL, '2026-11-23 02:41:03.611', NULL);

INSERT INTO public.job_locks VALUES ('keys', '', '2026-11-23 02:42:09.007');
INSERT INTO public.job_locks VALUES ('saml-certificates', '', '2026-11-24 00:17:15.201');
INSERT INTO public.job_locks VALUES ('audit-retention', '', '2026-11-23 03:35:14.727');
INSERT INTO public.job_locks VALUES ('sweep', '', '2026-11-23 02:42:08.573');
INSERT INTO public.job_locks VALUES ('saml-metadata', '', '2026-11-24 00:17:15.606');
INSERT INTO public.job_locks VALUES ('abandoned-sign-outs', '', '2026-11-23 02:41:42.898');
INSERT INTO public.job_locks VALUES ('logout-deliveries', '', '2026-11-23 02:41:24.245');
INSERT INTO public.job_locks VALUES ('mail', '', '2026-11-23 02:41:24.66');
INSERT INTO public.job_locks VALUES ('audit-chain', '', '2026-11-23 02:41:24.687');

INSERT INTO public.password_credentials VALUES ('vXOlvHwVOugeZc5UCJdt2TkV', '$argon2id$v=19$m=19456,p=1,t=2$ro/ryAtBHXImlFeSsrtpaQ$l7L8zigHUnm/p1PDaRWII8T5Y2pb/e+g/dmMQkk7Dqk', false, true, '2026-11-23 02:40:55.263');
INSERT INTO public.password_credentials VALUES ('tHd94_X_gZNumCL0sTOuKyTY', '$argon2id$v=19$m=19456,p=1,t=2$NahSn7k6ySkhy0tTdaXUrQ$1pfBZtr3e1g2hk0KAeKqCaTcy/gfH+QHZQkdWacirH0', false, true, '2026-11-23 02:40:59.495');

INSERT INTO public.permissions VALUES ('mVGD4LJpFKpyjVCtDDDxkVwI', 'gatehouse.users', 'read');
INSERT INTO public.permissions VALUES ('Eo6yJ-C6psgPI5Pksc_LwUHX', 'gatehouse.sessions', 'read');
INSERT INTO public.permissions VALUES ('p2M9jtk3bpaDY2ThbPenMCx4', 'gatehouse.applications', 'read');
INSERT INTO public.permissions VALUES ('-snty1CGr_0UsCrjegF22d6x', 'gatehouse.roles', 'read');
INSERT INTO public.permissions VALUES ('j2Bn-IAWwu_ErcsMjAlnqhKV', 'gatehouse.keys', 'read');
INSERT INTO public.permissions VALUES ('ugkqMOZBuNwGmVkm7sZJgYc0', 'gatehouse.audit', 'read');
INSERT INTO public.permissions VALUES ('Pz5j6091FYKHffxK_SmfV_MI', 'gatehouse.settings', 'read');
INSERT INTO public.permissions VALUES ('u_rZsDYun7YnMkHIJQM56gmY', 'gatehouse.mail', 'read');
INSERT INTO public.permissions VALUES ('QmMN8pS7Kc6z-0KlQRH6DLce', 'gatehouse.users', 'write');
INSERT INTO public.permissions VALUES ('LyYDN9kfey64xaQ60oWS2qsG', 'gatehouse.sessions', 'write');
INSERT INTO public.permissions VALUES ('lIRK1-6mNVxgXk2GJceMasvH', 'gatehouse.applications', 'write');
INSERT INTO public.permissions VALUES ('D1D6XcHa6JnsOrO4W9AHhwFH', 'gatehouse.roles', 'write');
INSERT INTO public.permissions VALUES ('6Rz9TY-8ichg0UFVh44PGelF', 'gatehouse.keys', 'write');
INSERT INTO public.permissions VALUES ('O2e594Z9iVDU2dBkq19tStdg', 'gatehouse.audit', 'write');
INSERT INTO public.permissions VALUES ('gC0z9dagHZp0gx78zntnxSi2', 'gatehouse.settings', 'write');
INSERT INTO public.permissions VALUES ('A-WHc6QQehyNH5uoYMhRDqbl', 'gatehouse.mail', 'write');
INSERT INTO public.permissions VALUES ('hMttOFJlWS30n6lLwZbo8Rct', 'gatehouse.users', 'unlock');
INSERT INTO public.permissions VALUES ('DU7sGBnQd8aAdU6GFnoUm4kw', 'gatehouse.users', 'reset-factors');
INSERT INTO public.permissions VALUES ('rdcuIedxZmXjhAUAQudAZn-b', 'gatehouse.users', 'reset-password');
INSERT INTO public.permissions VALUES ('TKfCMojR0BhRKVhU82tmXipb', 'gatehouse.sessions', 'end');

INSERT INTO public.role_permissions VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', 'mVGD4LJpFKpyjVCtDDDxkVwI');
INSERT INTO public.role_permissions VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', 'Eo6yJ-C6psgPI5Pksc_LwUHX');
INSERT INTO public.role_permissions VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', 'p2M9jtk3bpaDY2ThbPenMCx4');
INSERT INTO public.role_permissions VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', '-snty1CGr_0UsCrjegF22d6x');
INSERT INTO public.role_permissions VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', 'j2Bn-IAWwu_ErcsMjAlnqhKV');
INSERT INTO public.role_permissions VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', 'ugkqMOZBuNwGmVkm7sZJgYc0');
INSERT INTO public.role_permissions VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', 'Pz5j6091FYKHffxK_SmfV_MI');
INSERT INTO public.role_permissions VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', 'u_rZsDYun7YnMkHIJQM56gmY');
INSERT INTO public.role_permissions VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', 'QmMN8pS7Kc6z-0KlQRH6DLce');
INSERT INTO public.role_permissions VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', 'LyYDN9kfey64xaQ60oWS2qsG');
INSERT INTO public.role_permissions VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', 'lIRK1-6mNVxgXk2GJceMasvH');
INSERT INTO public.role_permissions VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', 'D1D6XcHa6JnsOrO4W9AHhwFH');
INSERT INTO public.role_permissions VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', '6Rz9TY-8ichg0UFVh44PGelF');
INSERT INTO public.role_permissions VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', 'O2e594Z9iVDU2dBkq19tStdg');
INSERT INTO public.role_permissions VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', 'gC0z9dagHZp0gx78zntnxSi2');
INSERT INTO public.role_permissions VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', 'A-WHc6QQehyNH5uoYMhRDqbl');
INSERT INTO public.role_permissions VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', 'hMttOFJlWS30n6lLwZbo8Rct');
INSERT INTO public.role_permissions VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', 'DU7sGBnQd8aAdU6GFnoUm4kw');
INSERT INTO public.role_permissions VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', 'rdcuIedxZmXjhAUAQudAZn-b');
INSERT INTO public.role_permissions VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', 'TKfCMojR0BhRKVhU82tmXipb');
INSERT INTO public.role_permissions VALUES ('MfD_C0hWDt488NHPF2A0SGQ4', 'mVGD4LJpFKpyjVCtDDDxkVwI');
INSERT INTO public.role_permissions VALUES ('MfD_C0hWDt488NHPF2A0SGQ4', 'Eo6yJ-C6psgPI5Pksc_LwUHX');
INSERT INTO public.role_permissions VALUES ('MfD_C0hWDt488NHPF2A0SGQ4', 'p2M9jtk3bpaDY2ThbPenMCx4');
INSERT INTO public.role_permissions VALUES ('MfD_C0hWDt488NHPF2A0SGQ4', '-snty1CGr_0UsCrjegF22d6x');
INSERT INTO public.role_permissions VALUES ('MfD_C0hWDt488NHPF2A0SGQ4', 'j2Bn-IAWwu_ErcsMjAlnqhKV');
INSERT INTO public.role_permissions VALUES ('MfD_C0hWDt488NHPF2A0SGQ4', 'ugkqMOZBuNwGmVkm7sZJgYc0');
INSERT INTO public.role_permissions VALUES ('MfD_C0hWDt488NHPF2A0SGQ4', 'Pz5j6091FYKHffxK_SmfV_MI');
INSERT INTO public.role_permissions VALUES ('MfD_C0hWDt488NHPF2A0SGQ4', 'u_rZsDYun7YnMkHIJQM56gmY');
INSERT INTO public.role_permissions VALUES ('oRx3ZxUW6c14JfpV5DjtHd9n', 'mVGD4LJpFKpyjVCtDDDxkVwI');
INSERT INTO public.role_permissions VALUES ('oRx3ZxUW6c14JfpV5DjtHd9n', 'hMttOFJlWS30n6lLwZbo8Rct');
INSERT INTO public.role_permissions VALUES ('oRx3ZxUW6c14JfpV5DjtHd9n', 'DU7sGBnQd8aAdU6GFnoUm4kw');
INSERT INTO public.role_permissions VALUES ('oRx3ZxUW6c14JfpV5DjtHd9n', 'rdcuIedxZmXjhAUAQudAZn-b');
INSERT INTO public.role_permissions VALUES ('oRx3ZxUW6c14JfpV5DjtHd9n', 'Eo6yJ-C6psgPI5Pksc_LwUHX');
INSERT INTO public.role_permissions VALUES ('oRx3ZxUW6c14JfpV5DjtHd9n', 'TKfCMojR0BhRKVhU82tmXipb');
INSERT INTO public.role_permissions VALUES ('oRx3ZxUW6c14JfpV5DjtHd9n', 'ugkqMOZBuNwGmVkm7sZJgYc0');

INSERT INTO public.roles VALUES ('Y4DUi2BWaLSIUCAkg_DXHVjw', 'admin', 'May do everything in Gatehouse', 'built-in', '2026-11-23 02:40:53.59');
INSERT INTO public.roles VALUES ('MfD_C0hWDt488NHPF2A0SGQ4', 'auditor', 'May look at everything in Gatehouse and change nothing', 'built-in', '2026-11-23 02:40:54.307');
INSERT INTO public.roles VALUES ('oRx3ZxUW6c14JfpV5DjtHd9n', 'support', 'May help people who cannot get in: unlock, reset factors and passwords, end sessions', 'built-in', '2026-11-23 02:40:54.494');

INSERT INTO public.settings VALUES ('secret.pairwise', '"v1.JvsG8psY.DCvDcrQVKMBCN9hwJEQjVZNeLvIDNk5SNSWgxinS9OMg3k17_jTQ8BAplJZpu6egiQcWx7mCksjNhdN4gfnHZtOJmsXhT08"', 'secret', '2026-11-23 02:41:13.136');

INSERT INTO public.signing_keys VALUES ('9_OVVMbg4MnsNQiCayOdfAEYtn3vM6qOvvLVhszq5WA', 'oidc', 'RS256', '{"kty":"RSA","n":"63kdfnGkm2wiFhB41DCXck0Ag0RSLOeIPD2MFL3GuuATMK_bYOtZWrlLrYhhkcGtOnXPxA95Zyl7ao-MrxgANKDfO53sSnRCchXusHqs6cA1eZwyHnsmWTOgCThXCCOVifutw_xLLR3eTPrDRxBDind1N98G20ffYP285W9tXXqSRzBJrAps-kw59u51XdA00Az5efPXAsKPCRnJdkx0Hv6ca-TecoIbbWIpeYp7n3QyrU4mMZpeEzYK5t2fLCM2KUxaBCCEfIzx41sPxlKMNUvMzMG-3yDs5a9s6LeDrPDJB9f7AbZwMCWtnA5W-m3nnjgNnbw07i780Gex-j3hkQ","e":"AQAB","kid":"9_OVVMbg4MnsNQiCayOdfAEYtn3vM6qOvvLVhszq5WA","alg":"RS256","use":"sig"}', 'v1.JvsG8psY.jRMta03lazr92BejyAuCG_os4pbt2cl1o1sS_tBPX5q-PzT3DLZ_Z_Jsut5MNaAj1QybbiLztq86UnWux8GqhG3CVixbGb_WuX3lLzQ9CVt8XZvS526L52dN2IoCiVV6oklAglgrk5YvymKn8-_zfxpJegWkrq-pygD4IKUxgI0R0G9gPKbTiOOQn3lthsp9I7CrJHIhA7ZpzYY12D1GxXNjjpe6_-pAoM_NeloZj64zUMY5HL8zL8Mgs9cZ-hy28XnGECXb9chttji_jjpkgNNQMsFkVmpBda7y4FUIAYcEDa-BeDVT79SHRdj3_6qi1rHDkECyEDAGkEwVKqCUM9twSIrZD2rlcZKw2osxAsESAJz1wuvbOf20v9ApoMPzsZesmagYuxOClXjoTY7Jy5ai5d6FWAZsWr8gt4a70ImwVu7eqSFcm6hJuLi1ijNJFGi9ETpWRIxEb0zTI_pLGnBOQpCC_vnKh0ES41i2N3uLprYA72jvit9nRLdYnwfKwNjGYdKA-5_0YMRS4uLOXurVkkPmqqljO7R7nefGDKTZAgYaMd2YNOrEQqu87xbT4apKQtC2Lz6ebawH22ZqWKDgzD-BIXqGMEJMq814Hqx0OoZWhQX-Msvor3UmoP8q_UdTzYdavxB6NQcVDOS3cFCA8xFRic86Qyrq7sDtQ-dLnqei56yjkRzdiadgTsj891osRnDMymV9E2hsmoCOqbtuO2N-KWA_EWdSVlI_qD_2OSKtdEuwK_CIyVymfiX7waJpxERkgNWJW7BYJPeb5mEb45M9JaK-qE1XGJ62QXV3nUGUz9c6b3mH5xcA-KhYgbz5DWsQqJtJ5ARMFfKzc_OmOVKpUbbgMExnjzV3wJbQgd9N8ski9AmKSjVDkMP5A3AfWG5RXxBXhz81SEEqJFt-cB16toY6pHJ7hoUKSyL_ZKE5THG9Juqhup5TJJYT5RTuWAId3a2UVQpvXhGEXha-u78Nh1UUtYdBYnd6yXAckO1VoK5YdULRDuE_RXyeWwwpL9DOwbNAf3TO2Y8bXY83lCWyEgpt1How5xbXULyTcSRdUAmDgrDNbXjebWj38yeQJCazVX6-XDFx9g4DdQd0ZDd-U2KFz2Ed-UMNspggYwOA-JcZNd7gFnThtOL8qzr0NN4i6pEkCr2jp0SsNWJ7VIQYOZOTwZ0pCURLilWqqj_oO0_Ncq84BXfb58jYcI9bKDEeqg8t7Tj530oNc0Y-1fOfHBa5tL-bYZT7Ew42G_55XoEO901U3BVtAu1Xd45hveDENUWwdQnTIXgz_8hPMRo1w9SpT3NNZjxJ_hS0B13ykskB6XZgwMndDaIQjUF6eA46qR9rMJWh3ElYavL38BwkW94NS9-cFRdBpRENAH-DTvLFqBWEdo-wKG6OtMVuk_2TZI5xPsLzCQDq3j0Ifa0yHikViKBK-RwlNMYZ1ibZOQp4Jd0VL04GVpgTCEWNEjbFUDbyqHvjJweMtXNs8Zj64_jwVf0GLQPQdvoYBiydoygIzP25FCpsVFsxxC18LcvGassQRN7Q4OuzeZuS66N_Sado4RcfN0UUb058jgg11kPshZeXX8qzDDNrUq-FOGOWNe8q6Qvi6VQC494Lw37GcnfZsyuoxNChX7u62VNgWIj_6hrs7bo', NULL, 'active', '2026-11-23 02:41:12.463', '2026-11-23 02:41:12.463', NULL, NULL);
INSERT INTO public.signing_keys VALUES ('tuXjYyn7DC44wyFoxP6WJbwiLDOKFlAx_rNk4IB9a9M', 'oidc', 'RS256', '{"kty":"RSA","n":"yGQVdPOZAMnBtaiNBGm2ExARu7O1UPgHaGkpJ2thVxI8ihcHa38PHDQ4s3PrnUqV2_3A6tQ29_138HmbWdBLldnK0Sp9erSauKH8hVhqYKdKZPjs-iPYyYkTaK-_Tu1E5gsO26WX6Qzm-1FTBqbtpAu-sas709WqgKp1higINlTnnfQVnOKXix5fy5pCsBa1MpQPpZghol8Xbs1ov_0gxng_QGXUIAizb6MtdWC8qUnD4OVDZTD7zM2AwXT0TMLfGNMjpZDoF9ffLYbzrNv5r1ZNC56eEvLTNcnMRUx0Bav9yehbLZTM3hBOUW8u5Iqp-PoT1a-fz5OUcLla_coYRw","e":"AQAB","kid":"tuXjYyn7DC44wyFoxP6WJbwiLDOKFlAx_rNk4IB9a9M","alg":"RS256","use":"sig"}', 'v1.JvsG8psY.iFCYdjqiTwnBwOwn-z097cSvGfsM3d62RD387Hy19S2j33iCGX893UgJlgVm_cKQpYTHw1RXOcj23NzNlvmRfvOBmD1dI0_9AGDrxL4sfzLcmdK5DZ-GSx4CDIRsgcKFxRsVplRuW8psmuJM89KW1DoXjiywefX-HJPKuF5eI0_0ySiI2m8_H019sNisaoALbV-pSrxdCrdr4vVlNIphrCIqfX69AsjSzxZAyWt0FpxKsDNR4TU6tR3Gh_weLMFQRnsHnpnYIalL00MbcAjnFnEV6Lb81tAfeY_5TXHqI1adVXUyjUhkpuXuP3hM_JqEloYWGfwPFesMrSJwqyff4KAZAJP0t3U_SgtKNi3mH_Kgs44VWibnBlF7fVwn9HTE_aMNS8K3Caa3kbOR79Ocrp9mqwp9dZwtBVxx8xm822vcqjDSMjvrVGGdqFW1ojsry3YJ5nkBOGyN11QfmLeR5NTHcgXZdturVZ3i5T_P9tFaVq8ThOMO_zGufAW8qIXCQnYG0hK1QsD5-bNfAKaYE8i56HZmeUP2SKG6hemxRnV3dagMuki85J8B_SrKOK2tgIq5FLBqjH3imMdQSb3Cmki8eh-wmsiWyExDonzF8VRqT3OzGL92EUFtFtdkC2wBLvfPNpSHNovjKFXt4ndYGleiI_mCMROmbPbkskjzGm0OpnaoCNOA5mfIjMDjoOa4qXGpEFz5njMQO6cdxieyyI_uDzytmIBOeBQtt3MbahF671i1-_PX0R6S8-1jO9DpDSPE3GOsZpO6xBdxOK_jAjAH_QsqU36OnlrmknNaNr3RfjpyG6y02VNWCCLC6ll8nPOKjPQTRu874TMy4kelO45fsQB4W3wk9ASkjb6Nx02a5q-TbfOpkcR5l1vPq4bDjggXm0HRtyuUmrvp_gvl-UAu42XqhXjzTubdzMLgLLoFhpS-2A_4Vs8hESONa79trqMBXvj6WpTQgTAvBlpsZrmTcRZXdCUSDbVQ4QhEA7XmyqkyVXhHGDSpAg-dZXCUYOCvgoilePNyRon6_hgbVus5tDDRuYDzv6EO4DY86w7f5bjnrvZT0nAd0J92Hh5h8ttJR3Rleuud46YXUdEKQwsX2gX-jKZ3JejT-phxG5CsTQzth8FnAbcIj7v7KqDyuBYKTExCqbztnkybXjx6F96sX16Xf3I4tqv-zLF56q-b2UrGhgKgwoqk2HzDM-KtQnT1qH81FTu1nR7KjBFdbNojG59H4gs2pxaykF4yjPDiteDcxvW9blmhEFOTmn-sGY0LtdBRjpoVyS--pc_OBXyxKFzlyWE2zzLD8_9D7qk8oi0fNNCu1g68kulYV_iWs-JQDjgvNKCnE4wEIIy4wF30dATIMxSwdLViqhg1GxMiUprq326mQrFeskNa3-kDSeSI3kRMjdOYxgRYlQthW2T2r6S58QOxqROqHUV7uVit-SzU41B9IU004cnzT9gMaS0VFT-miFExuNF9hCnNngXJ39FoTBqRwP3ALZg2eBdZh8SqJZX0-zliwC1IYoTB9jzW6syjpaQSWLi8QYH0K-ONC6_1snAYAJSH-zYZqWLn4slXglYDfBGl9nfRKHuktzE95NEzuUYYXI970cnhb3-7IjCkXsGJ6dqNd6prNZADw4VfkWNsygHouMc', NULL, 'next', '2026-11-23 02:41:12.225', NULL, NULL, NULL);
INSERT INTO public.signing_keys VALUES ('8rHGYg5yDqi45iQHBqDbrZCe7WFeAxvgL-tNwHyW0sA', 'oidc', 'ES256', '{"kty":"EC","x":"6ZPtLWDKJnaF1zIXqkoT14fwu2KrhrOtdSIPK9LIQNw","y":"J4Oy4y9C0TNaVYAqHZKU9JqTTNuhaq_CJaIk_FriYI4","crv":"P-256","kid":"8rHGYg5yDqi45iQHBqDbrZCe7WFeAxvgL-tNwHyW0sA","alg":"ES256","use":"sig"}', 'v1.JvsG8psY.RE2KldZ355a5UX4TVDnrF-LO1LBfxLubD2jUh4cEjsGPXUFmJdMo19pkiVITWlnRHHM-auH-4LszNmpRKZv2vYd_EYjCALTDfJaS2ZrVKny-cdyD9iBEMAJ-Qrxvzx79QfgKqoiwD2dvJyVTY6R8iKMOJGvwRViuTyJuajZe48Lhkc14OtK68hzgo-KNUdriDUje3l4DRlvgWUYy0hyN8Wqza9OkUQ', NULL, 'active', '2026-11-23 02:41:11.403', '2026-11-23 02:41:11.403', NULL, NULL);
INSERT INTO public.signing_keys VALUES ('P89_SlvaEBlA0PkXbpU5IS7g9LROMlSs84DXyNxJ4gY', 'oidc', 'ES256', '{"kty":"EC","x":"Za-z01jEMNZ4bk_BeNikD0fqqOPO3FqfRCeNU97ypr4","y":"_h3F2_tbaTENqu14gr_47phraAU5NMmgolDukajUMGA","crv":"P-256","kid":"P89_SlvaEBlA0PkXbpU5IS7g9LROMlSs84DXyNxJ4gY","alg":"ES256","use":"sig"}', 'v1.JvsG8psY.f6IOXVLoapbbmhfBBiF3tcl6QzaWf9eeBMfaVu-ef27S6Tefckd-V8vbwT-2ZOoiSsXlFh7BN26X5t73fax3HfDdnDtyCqV58DHlRPdgOlxVZ3J54Y9R1P3aHlRGd5uLEum8i1_8418UtmDDWd-vc-y3MGZPL4FjOKdgJhSVLFB2v7owK4oVlkjcybdmkXdZBWesZjDZeZ56LvhlTNYuhG6l9szRiQ', NULL, 'next', '2026-11-23 02:41:11.404', NULL, NULL, NULL);
INSERT INTO public.signing_keys VALUES ('hGouPyP6sEB7lI_fa_U8BBbJ0Jbw7lLSwlxdqNlpsfw', 'saml', 'RS256', '{"kty":"RSA","n":"qi8wE7_CXyZmuMKrh97rkL2FRIgvBf49JwwQSe8VfwXNpetM8tH0CVvfeRyW1id74KxT34NL4BbVrpnBhE1uImdeJUKMTg5jnmC1aebqikKFzWCYNIVFm2W5GInHQkIJKa6ddSIpkOEG8jDytF--gLZ0nNfBTcOetpKk2tS3APeNStDPuB90qdEphNPmmJ6jPBsHC6Bc9YkwfpnRNPmj2Ol4-GcYsCYvEKSNjNfkhQ2VTu3BdJBh9JNKXJEMZyr5jFApWMqcEBwupVCshR61yP9o6HoxIcKMBWEjf1sKzG3PlbmktlRZ0_A0fwtpCSFKwFHAPmOP3a5qfOn0Bh50BQ","e":"AQAB","kid":"hGouPyP6sEB7lI_fa_U8BBbJ0Jbw7lLSwlxdqNlpsfw","alg":"RS256","use":"sig"}', 'v1.JvsG8psY.U7ZUSMVWb9Gsu2tOvCq0zxHnCOOinBwmP7X_M1H7zDWMU1GG-Pb8akHUHrUg9yPsF6KxXduy-s-6TS-vXuYku3q5KzyEd12QbNKNSp-L6BJ1I0yyIIZW-zomAtIGzkkNAOunciQ-iZOtFYfZB407ymGp8FAyt7KlptBhhEYOHDJGB9cZ6XnNMkL8XdPPs0i512rkpwWrrdJovx6YsCQXMzFb7s4eoXK0CfXy96dNPbf07D-d3yutde54dItiwym4ZGi8s6ncYs0-cklF6Opf4r1EilNBDgKC-Kci17a5v1SNX552HiFsSMzi-CBnywI8i4BoxNj7smepXevvP_QvhA4dvBMfqit_Ju-z88RLIxYJLpsnfDv1JJjkzTLxlrYPCT81Mt7_RX-ZvDp0XMOmrlrRs2WXAvBPBF67TTDcfpjNAJz96lbg5xZxUEpNDsjNQrOgzk3bfdMFSPE_9mpGjaLSZ6XK0d1GVVGMeZOWSxkoMFYpVeJzVinRxgSpdfT4eHuD34unTjUyZKAicfzt5rvjv5iRSAb4_l6u3jNFoTPKTfcTJULVRVhpiUgCz1ijnAWGgyHfi105-1To7GyRDXisWOiAdzrsWkT2uJIDLXekQQh2XsOVWDOR0FyHcqJcuKk_0Ix9GGk59LP5jp-mZOv-aQfp9g4a110ug5Qs4f12ce4GahIf9Ru5geQvUpFeypMrOH-4eC3BKzDOXJ0rKdpvM_lBmeiPe19q44wuKhLnPUwjW07sWrRTbhsyoNFRGzO5kt1VlkIujp3NdW4uUSdcU7KNZcTdyA9-C84TDvfUUY0NbEr4ElW97zKqHsXwGpg5KxhV__3aKjSY6t_g1JTSAR7P0lEwSFJPDseTg0LCYrD_9wp4BkC0gN8h3k66bIPUhJPL2627-ztm3DgzlFJE4kY6fr3TrFrlBp5yQMgzMjjRulIDNLuZ1BgT2C_iy7nM-y35d4-w7I2hJ8KZbPZTlcniigOzJ4Ruhu9cAJRvN8TFM-t_JOpOaGg8b0SN5nDABtLxKwesAHM7GA3lp8cRPQP6kUrE9AjDuuFu_IhYYdGEDns3e3lkym9ZJ_rtQ8Efh0bsymJhkwuqwDaGqrwfNeJKn1OnPd9TJXVkbmBNZ0Q5zS56GXpMMXMIcTn8_vzDm49M7SuhC4N4yxmklZHkcSHvByCVTcek70ZZ7USsB7XqMquLbmB_4CjLfg51vZ82yKrpxdy87B7jqRsqwTjWGEh0HYSfCgU2ZMggwvjHtOVGSPOWNwk78Lr9FGpT5iipzKbjqNqhBkkhM0YsGvSgHViclY6BPJv7DCu-AZ8FSLgIDPE5RqovEdib7GtrdUPFZYIVzxbqJ2U3OtC5mnkOZVj4JkHVQaAifNSmrDX62CNshlo0ALl8ViyOsxppQYahOdf_XuNK9beAEQ_v5RfW8X0Xb7VxFwkDOTnx7ZtyQoYGMw_EhlC0WzWbOryIGUQ5VA8RGm5oApZbciz80diVTz2IWfaITOT5yH-h1Uq52Zy2TNecpwg7eqMOmc3arlz_OqK34YqbkX2YCx55yn0zK6Kx7jbSDRm-gL5oQdZ_CZ0jHhIuLfUyqWCferaI6u9LxoTdUASw17Nw4AnMpeiEX1iAgrekqKePtc6o7KJKWjfYWkEqruLUxr0G', '-----BEGIN CERTIFICATE-----
MIIC4TCCAcmgAwIBAgIQZhhvmV4HwOncIrnPgbRrLjANBgkqhkiG9w0BAQsFADAU
MRIwEAYDVQQDDAlsb2NhbGhvc3QwHhcNMjYxMTIzMDI0MTEyWhcNMjkxMTIyMDI0
MTEyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwggEiMA0GCSqGSIb3DQEBAQUAA4IB
DwAwggEKAoIBAQCqLzATv8JfJma4wquH3uuQvYVEiC8F/j0nDBBJ7xV/Bc2l60zy
0fQJW995HJbWJ3vgrFPfg0vgFtWumcGETW4iZ14lQoxODmOeYLVp5uqKQoXNYJg0
hUWbZbkYicdCQgkprp11IimQ4QbyMPK0X76AtnSc18FNw562kqTa1LcA941K0M+4
H3Sp0SmE0+aYnqM8GwcLoFz1iTB+mdE0+aPY6Xj4ZxiwJi8QpI2M1+SFDZVO7cF0
kGH0k0pckQxnKvmMUClYypwQHC6lUKyFHrXI/2joejEhwowFYSN/WwrMbc+VuaS2
VFnT8DR/C2kJIUrAUcA+Y4/drmp86fQGHnQFAgMBAAGjLzAtMAwGA1UdEwEB/wQC
MAAwHQYDVR0OBBYEFFu+iJTm8Azji0K3voBasWO3UhsdMA0GCSqGSIb3DQEBCwUA
A4IBAQBPUruG3NyiwXPDoH/Q/yw84WXhzmN7+P1rk8kL/MaiDYgMPQFfYEmyyt7k
oyKEwd7jMREw6wuBZ2OJwxUDQ9vwSrp6Uz94kN28jFLsWCIjKPV68FgsdaSbOd7U
UyhvOGF25XqkKzxIw0oeCAgNE2VoqzxgfYRPmFqY+ZftPSEMkim0aPq2+NHHSZiH
vyZb+irlgLGfTso5lC+1soxOJqj/M8eYx89QiV1RbnyFHnfsCXVjjV8gJQCHQmrD
5ccRzMk/gl9Yi0QA4CfZfO75wJ51BSiWHvqilo6D8hAgo6CcYMSPXxNhoHDNhbD0
GWkci7toWTmtkwTgtw3d6Xf/mGez
-----END CERTIFICATE-----
', 'active', '2026-11-23 02:41:12.52', '2026-11-23 02:41:12.52', NULL, '2029-11-22 02:41:12.52');

INSERT INTO public.user_roles VALUES ('tHd94_X_gZNumCL0sTOuKyTY', 'Y4DUi2BWaLSIUCAkg_DXHVjw');

INSERT INTO public.users VALUES ('vXOlvHwVOugeZc5UCJdt2TkV', 'ann', 'ann', 'ann@example.com', 'ann@example.com', true, 'Ann Example', NULL, NULL, NULL, NULL, NULL, NULL, '{}', NULL, true, 'local', '2026-11-23 02:40:55.211', '2026-11-23 02:40:55.211', 'ann
ann@example.com
ann example');
INSERT INTO public.users VALUES ('tHd94_X_gZNumCL0sTOuKyTY', 'root', 'root', 'root@example.com', 'root@example.com', false, 'Root', NULL, NULL, NULL, NULL, NULL, NULL, '{}', NULL, true, 'local', '2026-11-23 02:40:59.277', '2026-11-23 02:40:59.277', 'root
root@example.com
root');

SELECT pg_catalog.setval('public.audit_events_id_seq', 16, true);

ALTER TABLE ONLY public._prisma_migrations
    ADD CONSTRAINT _prisma_migrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.application_roles
    ADD CONSTRAINT application_roles_pkey PRIMARY KEY (application_id, role_id);

ALTER TABLE ONLY public.applications
    ADD CONSTRAINT applications_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_chain
    ADD CONSTRAINT audit_chain_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_events
    ADD CONSTRAINT audit_events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.client_secrets
    ADD CONSTRAINT client_secrets_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.consents
    ADD CONSTRAINT consents_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.job_locks
    ADD CONSTRAINT job_locks_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.known_browsers
    ADD CONSTRAINT known_browsers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.logout_deliveries
    ADD CONSTRAINT logout_deliveries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.logout_participants
    ADD CONSTRAINT logout_participants_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.logout_runs
    ADD CONSTRAINT logout_runs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.mail_messages
    ADD CONSTRAINT mail_messages_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.mail_tokens
    ADD CONSTRAINT mail_tokens_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.oidc_artifacts
    ADD CONSTRAINT oidc_artifacts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.one_time_codes
    ADD CONSTRAINT one_time_codes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.password_credentials
    ADD CONSTRAINT password_credentials_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY public.password_reset_tokens
    ADD CONSTRAINT password_reset_tokens_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.permissions
    ADD CONSTRAINT permissions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.phone_factors
    ADD CONSTRAINT phone_factors_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY public.rate_limits
    ADD CONSTRAINT rate_limits_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.refusals
    ADD CONSTRAINT refusals_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.resources
    ADD CONSTRAINT resources_pkey PRIMARY KEY (identifier);

ALTER TABLE ONLY public.retired_subjects
    ADD CONSTRAINT retired_subjects_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.role_permissions
    ADD CONSTRAINT role_permissions_pkey PRIMARY KEY (role_id, permission_id);

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.rp_sessions
    ADD CONSTRAINT rp_sessions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.saml_name_ids
    ADD CONSTRAINT saml_name_ids_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.saml_participants
    ADD CONSTRAINT saml_participants_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.saml_requests
    ADD CONSTRAINT saml_requests_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.seen_messages
    ADD CONSTRAINT seen_messages_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.session_devices
    ADD CONSTRAINT session_devices_pkey PRIMARY KEY (uid);

ALTER TABLE ONLY public.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.sign_in_attempts
    ADD CONSTRAINT sign_in_attempts_pkey PRIMARY KEY (uid);

ALTER TABLE ONLY public.signing_keys
    ADD CONSTRAINT signing_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.totp_credentials
    ADD CONSTRAINT totp_credentials_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY public.user_roles
    ADD CONSTRAINT user_roles_pkey PRIMARY KEY (user_id, role_id);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);

CREATE INDEX application_roles_role_id_idx ON public.application_roles USING btree (role_id);

CREATE UNIQUE INDEX applications_client_id_key ON public.applications USING btree (client_id);

CREATE INDEX applications_name_id_idx ON public.applications USING btree (name, id);

CREATE INDEX applications_protocol_name_id_idx ON public.applications USING btree (protocol, name, id);

CREATE INDEX audit_events_actor_id_id_idx ON public.audit_events USING btree (actor_id, id);

CREATE INDEX audit_events_at_idx ON public.audit_events USING btree (at);

CREATE UNIQUE INDEX audit_events_chain_seq_key ON public.audit_events USING btree (chain_seq);

CREATE INDEX audit_events_client_id_id_idx ON public.audit_events USING btree (client_id, id);

CREATE INDEX audit_events_request_id_idx ON public.audit_events USING btree (request_id);

CREATE INDEX audit_events_subject_id_id_idx ON public.audit_events USING btree (subject_id, id);

CREATE INDEX audit_events_type_at_outcome_client_id_idx ON public.audit_events USING btree (type, at, outcome, client_id);

CREATE INDEX audit_events_type_id_idx ON public.audit_events USING btree (type, id);

CREATE INDEX client_secrets_application_id_idx ON public.client_secrets USING btree (application_id);

CREATE INDEX consents_application_id_idx ON public.consents USING btree (application_id);

CREATE UNIQUE INDEX consents_user_id_application_id_key ON public.consents USING btree (user_id, application_id);

CREATE INDEX idempotency_keys_expires_at_idx ON public.idempotency_keys USING btree (expires_at);

CREATE INDEX known_browsers_expires_at_idx ON public.known_browsers USING btree (expires_at);

CREATE UNIQUE INDEX known_browsers_token_hash_key ON public.known_browsers USING btree (token_hash);

CREATE INDEX known_browsers_user_id_idx ON public.known_browsers USING btree (user_id);

CREATE INDEX logout_deliveries_done_at_failed_at_next_try_at_idx ON public.logout_deliveries USING btree (done_at, failed_at, next_try_at);

CREATE UNIQUE INDEX logout_participants_message_id_key ON public.logout_participants USING btree (message_id);

CREATE INDEX logout_participants_run_id_idx ON public.logout_participants USING btree (run_id);

CREATE INDEX logout_runs_expires_at_idx ON public.logout_runs USING btree (expires_at);

CREATE INDEX logout_runs_finished_at_seen_at_idx ON public.logout_runs USING btree (finished_at, seen_at);

CREATE INDEX mail_messages_created_at_id_sent_at_failed_at_idx ON public.mail_messages USING btree (created_at, id, sent_at, failed_at);

CREATE INDEX mail_messages_failed_at_idx ON public.mail_messages USING btree (failed_at);

CREATE INDEX mail_messages_sent_at_failed_at_next_try_at_idx ON public.mail_messages USING btree (sent_at, failed_at, next_try_at);

CREATE INDEX mail_tokens_expires_at_idx ON public.mail_tokens USING btree (expires_at);

CREATE UNIQUE INDEX mail_tokens_token_hash_key ON public.mail_tokens USING btree (token_hash);

CREATE INDEX mail_tokens_user_id_purpose_idx ON public.mail_tokens USING btree (user_id, purpose);

CREATE INDEX oidc_artifacts_account_id_model_expires_at_idx ON public.oidc_artifacts USING btree (account_id, model, expires_at);

CREATE INDEX oidc_artifacts_expires_at_idx ON public.oidc_artifacts USING btree (expires_at);

CREATE INDEX oidc_artifacts_grant_id_idx ON public.oidc_artifacts USING btree (grant_id);

CREATE INDEX oidc_artifacts_uid_model_idx ON public.oidc_artifacts USING btree (uid, model);

CREATE INDEX oidc_artifacts_user_code_idx ON public.oidc_artifacts USING btree (user_code);

CREATE INDEX one_time_codes_expires_at_idx ON public.one_time_codes USING btree (expires_at);

CREATE INDEX one_time_codes_user_id_idx ON public.one_time_codes USING btree (user_id);

CREATE INDEX passkeys_user_id_idx ON public.passkeys USING btree (user_id);

CREATE INDEX password_reset_tokens_expires_at_idx ON public.password_reset_tokens USING btree (expires_at);

CREATE UNIQUE INDEX password_reset_tokens_token_hash_key ON public.password_reset_tokens USING btree (token_hash);

CREATE INDEX password_reset_tokens_user_id_idx ON public.password_reset_tokens USING btree (user_id);

CREATE UNIQUE INDEX permissions_resource_action_key ON public.permissions USING btree (resource, action);

CREATE INDEX rate_limits_expires_at_idx ON public.rate_limits USING btree (expires_at);

CREATE UNIQUE INDEX recovery_codes_user_id_code_hash_key ON public.recovery_codes USING btree (user_id, code_hash);

CREATE INDEX refusals_at_id_idx ON public.refusals USING btree (at, id);

CREATE INDEX refusals_client_id_at_idx ON public.refusals USING btree (client_id, at);

CREATE INDEX refusals_expires_at_idx ON public.refusals USING btree (expires_at);

CREATE INDEX refusals_request_id_idx ON public.refusals USING btree (request_id);

CREATE INDEX refusals_subject_id_at_idx ON public.refusals USING btree (subject_id, at);

CREATE INDEX role_permissions_permission_id_idx ON public.role_permissions USING btree (permission_id);

CREATE UNIQUE INDEX roles_name_key ON public.roles USING btree (name);

CREATE INDEX rp_sessions_expires_at_idx ON public.rp_sessions USING btree (expires_at);

CREATE INDEX rp_sessions_user_id_idx ON public.rp_sessions USING btree (user_id);

CREATE INDEX saml_name_ids_application_id_idx ON public.saml_name_ids USING btree (application_id);

CREATE UNIQUE INDEX saml_name_ids_user_id_application_id_key ON public.saml_name_ids USING btree (user_id, application_id);

CREATE UNIQUE INDEX saml_name_ids_value_key ON public.saml_name_ids USING btree (value);

CREATE INDEX saml_participants_application_id_name_id_idx ON public.saml_participants USING btree (application_id, name_id);

CREATE INDEX saml_participants_expires_at_idx ON public.saml_participants USING btree (expires_at);

CREATE UNIQUE INDEX saml_participants_session_uid_application_id_session_index_key ON public.saml_participants USING btree (session_uid, application_id, session_index);

CREATE INDEX saml_participants_user_id_idx ON public.saml_participants USING btree (user_id);

CREATE INDEX saml_requests_expires_at_idx ON public.saml_requests USING btree (expires_at);

CREATE INDEX seen_messages_expires_at_idx ON public.seen_messages USING btree (expires_at);

CREATE INDEX session_devices_created_at_uid_idx ON public.session_devices USING btree (created_at, uid);

CREATE INDEX session_devices_expires_at_idx ON public.session_devices USING btree (expires_at);

CREATE INDEX session_devices_user_id_idx ON public.session_devices USING btree (user_id);

CREATE INDEX sign_in_attempts_expires_at_idx ON public.sign_in_attempts USING btree (expires_at);

CREATE INDEX signing_keys_use_state_idx ON public.signing_keys USING btree (use, state);

CREATE INDEX user_roles_role_id_idx ON public.user_roles USING btree (role_id);

CREATE INDEX users_created_at_id_is_active_source_search_key_idx ON public.users USING btree (created_at, id, is_active, source, search_key);

CREATE UNIQUE INDEX users_email_key_key ON public.users USING btree (email_key);

CREATE UNIQUE INDEX users_sso_id_key ON public.users USING btree (sso_id);

CREATE UNIQUE INDEX users_username_key_key ON public.users USING btree (username_key);

ALTER TABLE ONLY public.application_roles
    ADD CONSTRAINT application_roles_application_id_fkey FOREIGN KEY (application_id) REFERENCES public.applications(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.application_roles
    ADD CONSTRAINT application_roles_role_id_fkey FOREIGN KEY (role_id) REFERENCES public.roles(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.client_secrets
    ADD CONSTRAINT client_secrets_application_id_fkey FOREIGN KEY (application_id) REFERENCES public.applications(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.consents
    ADD CONSTRAINT consents_application_id_fkey FOREIGN KEY (application_id) REFERENCES public.applications(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.consents
    ADD CONSTRAINT consents_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.known_browsers
    ADD CONSTRAINT known_browsers_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.logout_participants
    ADD CONSTRAINT logout_participants_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.logout_runs(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.mail_tokens
    ADD CONSTRAINT mail_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.one_time_codes
    ADD CONSTRAINT one_time_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.password_credentials
    ADD CONSTRAINT password_credentials_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.password_reset_tokens
    ADD CONSTRAINT password_reset_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.phone_factors
    ADD CONSTRAINT phone_factors_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.role_permissions
    ADD CONSTRAINT role_permissions_permission_id_fkey FOREIGN KEY (permission_id) REFERENCES public.permissions(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.role_permissions
    ADD CONSTRAINT role_permissions_role_id_fkey FOREIGN KEY (role_id) REFERENCES public.roles(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.totp_credentials
    ADD CONSTRAINT totp_credentials_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.user_roles
    ADD CONSTRAINT user_roles_role_id_fkey FOREIGN KEY (role_id) REFERENCES public.roles(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.user_roles
    ADD CONSTRAINT user_roles_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON UPDATE CASCADE ON DELETE CASCADE;

