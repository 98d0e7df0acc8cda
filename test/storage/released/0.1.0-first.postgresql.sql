
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

INSERT INTO public._prisma_migrations VALUES ('325f3a37-3392-438c-bc4e-4cf23217d78d', '98dc1d79f5db55c202f41a0705c0bded3b156a3db87d94a1bb976299424822eb', '2026-11-23 02:39:24.929+00', '20261121091642_init', NULL, NULL, '2026-11-23 02:39:24.3+00', 1);
INSERT INTO public._prisma_migrations VALUES ('352a6770-87d8-4e6a-95bf-2f9f51596053', 'f6f216566691f838e9099be6bc6a62592e9ec8a88d4881307636cfda0a92f195', '2026-11-23 02:39:24.974+00', '20261121102220_lean_artifacts', NULL, NULL, '2026-11-23 02:39:24.95+00', 1);
INSERT INTO public._prisma_migrations VALUES ('4a7d3f79-83de-47b9-a1e2-29febe622db8', '0d8fb3853573289b151a76403336c84244e4ce7b03930c8f194c4adc00e9bf2a', '2026-11-23 02:39:25.073+00', '20261121102420_audit_chain_and_admin_api', NULL, NULL, '2026-11-23 02:39:24.99+00', 1);
INSERT INTO public._prisma_migrations VALUES ('92c50168-9287-4227-a352-dd9f498079eb', 'a69b7edd10ac71913e8e950435a36203df3ea2e1fe1091287555620614bdd6ba', '2026-11-23 02:39:25.122+00', '20261121102726_logout_runs', NULL, NULL, '2026-11-23 02:39:25.082+00', 1);
INSERT INTO public._prisma_migrations VALUES ('1920e46f-e612-426e-971c-ecebba64701f', 'a9f88ff0ca51f5a3403ee6084d202f76d913777b4c8f7af3a2efba930be42ad0', '2026-11-23 02:39:25.149+00', '20261121104606_phone_factor_and_verified_passkeys', NULL, NULL, '2026-11-23 02:39:25.13+00', 1);

INSERT INTO public.applications VALUES ('t2FpD80fHR1pD9eUIKurybFk', 'shop', 'oidc', 'Shop', true, 'implicit', 'everyone', '{"application_type":"web","redirect_uris":["http://127.0.0.1:4000/cb"],"post_logout_redirect_uris":[],"grant_types":["authorization_code","refresh_token"],"token_endpoint_auth_method":"client_secret_basic","id_token_signed_response_alg":"RS256","subject_type":"public","response_types":["code"]}', 'local', '2026-11-23 02:39:38.806', '2026-11-23 02:39:38.806');
INSERT INTO public.applications VALUES ('xfgiUs1sPxdW1B_wqDHS0IFi', 'https://wiki.example/metadata', 'saml', 'Wiki', true, 'implicit', 'everyone', '{"attributes":{},"sign":"assertion","encrypt_assertion":"auto","idp_initiated":false,"allow_sha1":false,"metadata_xml":"<md:EntityDescriptor xmlns:md=\"urn:oasis:names:tc:SAML:2.0:metadata\" entityID=\"https://wiki.example/metadata\"><md:SPSSODescriptor protocolSupportEnumeration=\"urn:oasis:names:tc:SAML:2.0:protocol\" WantAssertionsSigned=\"true\"><md:AssertionConsumerService index=\"0\" isDefault=\"true\" Binding=\"urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST\" Location=\"http://127.0.0.1:4100/acs\"/></md:SPSSODescriptor></md:EntityDescriptor>\n"}', 'local', '2026-11-23 02:39:44.555', '2026-11-23 02:39:44.555');

INSERT INTO public.audit_chain VALUES ('head', 11, '8bac24776202f850b9301e389a6d77a36c96cd31724384ada0ffc3da9d85a147', 'KDbdte7_mVNkQblecfHMQmgqAnOuYl_Ci5iVg9GYtIA');

INSERT INTO public.audit_events VALUES (1, '2026-11-23 02:39:26.694', 'role.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"name":"admin","permissions":["gatehouse.users:read","gatehouse.sessions:read","gatehouse.applications:read","gatehouse.roles:read","gatehouse.keys:read","gatehouse.audit:read","gatehouse.settings:read","gatehouse.mail:read","gatehouse.users:write","gatehouse.sessions:write","gatehouse.applications:write","gatehouse.roles:write","gatehouse.keys:write","gatehouse.audit:write","gatehouse.settings:write","gatehouse.mail:write","gatehouse.users:unlock","gatehouse.users:reset-factors","gatehouse.users:reset-password","gatehouse.sessions:end"]}', NULL, '448617517940dd43a129ba428f2c676e305f4bb096904ca9fedf23083785c43e', 1);
INSERT INTO public.audit_events VALUES (2, '2026-11-23 02:39:26.878', 'role.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"name":"auditor","permissions":["gatehouse.users:read","gatehouse.sessions:read","gatehouse.applications:read","gatehouse.roles:read","gatehouse.keys:read","gatehouse.audit:read","gatehouse.settings:read","gatehouse.mail:read"]}', NULL, '71465f801056ccceda89842438cca0ea3d443f41614a2ddbfa1842c7fcdbc394', 2);
INSERT INTO public.audit_events VALUES (3, '2026-11-23 02:39:27.062', 'role.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"name":"support","permissions":["gatehouse.users:read","gatehouse.users:unlock","gatehouse.users:reset-factors","gatehouse.users:reset-password","gatehouse.sessions:read","gatehouse.sessions:end","gatehouse.audit:read"]}', NULL, 'aeb4fe2c801d27416add64923ce04a0719fbe138c9dac333730c7854eaff7eba', 3);
INSERT INTO public.audit_events VALUES (4, '2026-11-23 02:39:27.62', 'account.created', 'success', NULL, NULL, 'UPu9wNnaLaqyESqGTLTdlmx4', NULL, NULL, NULL, NULL, '{"name":"Ann Example","username":"ann","email":"ann@example.com","emailVerified":true}', NULL, '752d6ebc24c387cc503fd67c6b6f4266869e709c25c8fef3db172d76f3e8223d', 4);
INSERT INTO public.audit_events VALUES (5, '2026-11-23 02:39:27.694', 'password.set', 'success', NULL, NULL, 'UPu9wNnaLaqyESqGTLTdlmx4', NULL, NULL, NULL, NULL, '{"mustChange":false}', NULL, '9533c40ae34209dce1c2b1209e32e0e72659ad6f626bdcfb59a01dd02d0853ed', 5);
INSERT INTO public.audit_events VALUES (6, '2026-11-23 02:39:34.343', 'account.created', 'success', NULL, NULL, 'AVIe9HMKGNb3vt5WJQT0Tl93', NULL, NULL, NULL, NULL, '{"name":"Root","username":"root","email":"root@example.com","emailVerified":false}', NULL, '776f888054c41a6df049db7a02538e14e481a549636974a873d7ea26cda47e11', 6);
INSERT INTO public.audit_events VALUES (7, '2026-11-23 02:39:34.522', 'role.assigned', 'success', NULL, NULL, 'AVIe9HMKGNb3vt5WJQT0Tl93', NULL, NULL, NULL, NULL, '{"roleName":"admin"}', NULL, '9a50ed6acd6983afb9af5cdbda386b4ac17dbb82ad2b9d70f3a233c86ebbf489', 7);
INSERT INTO public.audit_events VALUES (8, '2026-11-23 02:39:34.597', 'password.set', 'success', NULL, NULL, 'AVIe9HMKGNb3vt5WJQT0Tl93', NULL, NULL, NULL, NULL, '{"mustChange":false}', NULL, '73403e3d66a65e2c77cd6d56ed844db3de445d973cb22d006bf35c882203fce5', 8);
INSERT INTO public.audit_events VALUES (9, '2026-11-23 02:39:39.005', 'application.created', 'success', NULL, NULL, NULL, 'shop', NULL, NULL, NULL, '{"name":"Shop","protocol":"oidc","source":"local"}', NULL, 'be183da7291a07300c5483119b17398364490004974344bb8f900c72417d758c', 9);
INSERT INTO public.audit_events VALUES (10, '2026-11-23 02:39:44.661', 'application.created', 'success', NULL, NULL, NULL, 'https://wiki.example/metadata', NULL, NULL, NULL, '{"name":"Wiki","protocol":"saml","source":"local"}', NULL, 'add177dd42fe7236707b09554dea2f7b5181952c7ef7385ce2a71df59c63146c', 10);
INSERT INTO public.audit_events VALUES (11, '2026-11-23 02:39:56.275', 'server.started', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"node":"v20.20.2"}', NULL, '8bac24776202f850b9301e389a6d77a36c96cd31724384ada0ffc3da9d85a147', 11);

INSERT INTO public.client_secrets VALUES ('ouEGkpKRxuHao7R_REgovxG6', 't2FpD80fHR1pD9eUIKurybFk', '1DhI4-8c9Ej_J38kITiy8lhBvti4dHuhKW6V4cmX2S8', NULL, '2026-11-23 02:39:38.889', NULL);

INSERT INTO public.job_locks VALUES ('abandoned-sign-outs', '', '2026-11-23 02:40:23.699');
INSERT INTO public.job_locks VALUES ('saml-certificates', '', '2026-11-24 00:15:57.299');
INSERT INTO public.job_locks VALUES ('keys', '', '2026-11-23 02:40:51.557');
INSERT INTO public.job_locks VALUES ('audit-retention', '', '2026-11-23 03:33:57.907');
INSERT INTO public.job_locks VALUES ('saml-metadata', '', '2026-11-24 00:15:58.474');
INSERT INTO public.job_locks VALUES ('sweep', '', '2026-11-23 02:40:52.335');
INSERT INTO public.job_locks VALUES ('audit-chain', '', '2026-11-23 02:40:07.582');
INSERT INTO public.job_locks VALUES ('mail', '', '2026-11-23 02:40:07.688');
INSERT INTO public.job_locks VALUES ('logout-deliveries', '', '2026-11-23 02:40:07.836');

INSERT INTO public.password_credentials VALUES ('UPu9wNnaLaqyESqGTLTdlmx4', '$argon2id$v=19$m=19456,p=1,t=2$NY35715tspjdByQinRhHSg$cTVK/kkaPrWBuZvprKqKfCaifHKaV6VPnLaqLK4EGMo', false, true, '2026-11-23 02:39:27.628');
INSERT INTO public.password_credentials VALUES ('AVIe9HMKGNb3vt5WJQT0Tl93', '$argon2id$v=19$m=19456,p=1,t=2$IfLaghrmwAXzA+6J0TsY3g$zV8gAC5/QlIDDxKlCBhGdvvbiZnQJzNRN8gcrpDQ0NM', false, true, '2026-11-23 02:39:34.538');

INSERT INTO public.permissions VALUES ('aliZkxLYOa_g2tWgwBellRNq', 'gatehouse.users', 'read');
INSERT INTO public.permissions VALUES ('TrfULejDVU_uwG_m9dNUna9k', 'gatehouse.sessions', 'read');
INSERT INTO public.permissions VALUES ('hzGlB7i5qOalByyP9szfY3jZ', 'gatehouse.applications', 'read');
INSERT INTO public.permissions VALUES ('2K5FvoSRaEzMDPSjCe1zrvNC', 'gatehouse.roles', 'read');
INSERT INTO public.permissions VALUES ('AIZuti6q7e9zjDK3UBwb-TFZ', 'gatehouse.keys', 'read');
INSERT INTO public.permissions VALUES ('zTrMFo9rcYFLekkouxdfO5--', 'gatehouse.audit', 'read');
INSERT INTO public.permissions VALUES ('V7JU9Zlcb0C6Lx9-KGcR-cgg', 'gatehouse.settings', 'read');
INSERT INTO public.permissions VALUES ('_lzGsA_ZOzExDomN5ph333Wy', 'gatehouse.mail', 'read');
INSERT INTO public.permissions VALUES ('nANDi2Y6HhY5u6G74oCgytof', 'gatehouse.users', 'write');
INSERT INTO public.permissions VALUES ('niPHozu12MdVdzV5lZGXZqJa', 'gatehouse.sessions', 'write');
INSERT INTO public.permissions VALUES ('qoV1_cK4e5UEVzKHC7l-vVNq', 'gatehouse.applications', 'write');
INSERT INTO public.permissions VALUES ('7ECqwtNj3FKq5ATNqA5ml1it', 'gatehouse.roles', 'write');
INSERT INTO public.permissions VALUES ('vBCEIbHAvXcpsjm0Z5y9Nvac', 'gatehouse.keys', 'write');
INSERT INTO public.permissions VALUES ('sV8MpCYgE4Hr4uv4kBo5izHm', 'gatehouse.audit', 'write');
INSERT INTO public.permissions VALUES ('ejXc_H6SbF3k5CxMiJtWkVrH', 'gatehouse.settings', 'write');
INSERT INTO public.permissions VALUES ('gc6VAmQJcBgRUHhBR9Dx2Y4O', 'gatehouse.mail', 'write');
INSERT INTO public.permissions VALUES ('BjU0w5J2z7cMsZQK6aTWD14X', 'gatehouse.users', 'unlock');
INSERT INTO public.permissions VALUES ('NBL2ES6jVhQu5dq3vBHHHp1m', 'gatehouse.users', 'reset-factors');
INSERT INTO public.permissions VALUES ('BrEmZ3f7RHLNhRb5Z-80AlIm', 'gatehouse.users', 'reset-password');
INSERT INTO public.permissions VALUES ('PgidiK7auEL7ji0gZfDIF9uX', 'gatehouse.sessions', 'end');

INSERT INTO public.role_permissions VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', 'aliZkxLYOa_g2tWgwBellRNq');
INSERT INTO public.role_permissions VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', 'TrfULejDVU_uwG_m9dNUna9k');
INSERT INTO public.role_permissions VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', 'hzGlB7i5qOalByyP9szfY3jZ');
INSERT INTO public.role_permissions VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', '2K5FvoSRaEzMDPSjCe1zrvNC');
INSERT INTO public.role_permissions VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', 'AIZuti6q7e9zjDK3UBwb-TFZ');
INSERT INTO public.role_permissions VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', 'zTrMFo9rcYFLekkouxdfO5--');
INSERT INTO public.role_permissions VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', 'V7JU9Zlcb0C6Lx9-KGcR-cgg');
INSERT INTO public.role_permissions VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', '_lzGsA_ZOzExDomN5ph333Wy');
INSERT INTO public.role_permissions VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', 'nANDi2Y6HhY5u6G74oCgytof');
INSERT INTO public.role_permissions VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', 'niPHozu12MdVdzV5lZGXZqJa');
INSERT INTO public.role_permissions VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', 'qoV1_cK4e5UEVzKHC7l-vVNq');
INSERT INTO public.role_permissions VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', '7ECqwtNj3FKq5ATNqA5ml1it');
INSERT INTO public.role_permissions VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', 'vBCEIbHAvXcpsjm0Z5y9Nvac');
INSERT INTO public.role_permissions VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', 'sV8MpCYgE4Hr4uv4kBo5izHm');
INSERT INTO public.role_permissions VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', 'ejXc_H6SbF3k5CxMiJtWkVrH');
INSERT INTO public.role_permissions VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', 'gc6VAmQJcBgRUHhBR9Dx2Y4O');
INSERT INTO public.role_permissions VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', 'BjU0w5J2z7cMsZQK6aTWD14X');
INSERT INTO public.role_permissions VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', 'NBL2ES6jVhQu5dq3vBHHHp1m');
INSERT INTO public.role_permissions VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', 'BrEmZ3f7RHLNhRb5Z-80AlIm');
INSERT INTO public.role_permissions VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', 'PgidiK7auEL7ji0gZfDIF9uX');
INSERT INTO public.role_permissions VALUES ('9crmwVLuM0uA_fR2fKB0OEAA', 'aliZkxLYOa_g2tWgwBellRNq');
INSERT INTO public.role_permissions VALUES ('9crmwVLuM0uA_fR2fKB0OEAA', 'TrfULejDVU_uwG_m9dNUna9k');
INSERT INTO public.role_permissions VALUES ('9crmwVLuM0uA_fR2fKB0OEAA', 'hzGlB7i5qOalByyP9szfY3jZ');
INSERT INTO public.role_permissions VALUES ('9crmwVLuM0uA_fR2fKB0OEAA', '2K5FvoSRaEzMDPSjCe1zrvNC');
INSERT INTO public.role_permissions VALUES ('9crmwVLuM0uA_fR2fKB0OEAA', 'AIZuti6q7e9zjDK3UBwb-TFZ');
INSERT INTO public.role_permissions VALUES ('9crmwVLuM0uA_fR2fKB0OEAA', 'zTrMFo9rcYFLekkouxdfO5--');
INSERT INTO public.role_permissions VALUES ('9crmwVLuM0uA_fR2fKB0OEAA', 'V7JU9Zlcb0C6Lx9-KGcR-cgg');
INSERT INTO public.role_permissions VALUES ('9crmwVLuM0uA_fR2fKB0OEAA', '_lzGsA_ZOzExDomN5ph333Wy');
INSERT INTO public.role_permissions VALUES ('Wx7OlpOqeVPF7cMRxJC1HFSF', 'aliZkxLYOa_g2tWgwBellRNq');
INSERT INTO public.role_permissions VALUES ('Wx7OlpOqeVPF7cMRxJC1HFSF', 'BjU0w5J2z7cMsZQK6aTWD14X');
INSERT INTO public.role_permissions VALUES ('Wx7OlpOqeVPF7cMRxJC1HFSF', 'NBL2ES6jVhQu5dq3vBHHHp1m');
INSERT INTO public.role_permissions VALUES ('Wx7OlpOqeVPF7cMRxJC1HFSF', 'BrEmZ3f7RHLNhRb5Z-80AlIm');
INSERT INTO public.role_permissions VALUES ('Wx7OlpOqeVPF7cMRxJC1HFSF', 'TrfULejDVU_uwG_m9dNUna9k');
INSERT INTO public.role_permissions VALUES ('Wx7OlpOqeVPF7cMRxJC1HFSF', 'PgidiK7auEL7ji0gZfDIF9uX');
INSERT INTO public.role_permissions VALUES ('Wx7OlpOqeVPF7cMRxJC1HFSF', 'zTrMFo9rcYFLekkouxdfO5--');

INSERT INTO public.roles VALUES ('k3EBfKfjF_a2MVKBsj-tDHWA', 'admin', 'May do everything in Gatehouse', 'built-in', '2026-11-23 02:39:26.022');
INSERT INTO public.roles VALUES ('9crmwVLuM0uA_fR2fKB0OEAA', 'auditor', 'May look at everything in Gatehouse and change nothing', 'built-in', '2026-11-23 02:39:26.74');
INSERT INTO public.roles VALUES ('Wx7OlpOqeVPF7cMRxJC1HFSF', 'support', 'May help people who cannot get in: unlock, reset factors and passwords, end sessions', 'built-in', '2026-11-23 02:39:26.903');

INSERT INTO public.settings VALUES ('secret.pairwise', '"v1.JvsG8psY.2-EvuGUqLUcXxpS02ADagBQwsqpz3pdUmnD8Vd-hC_n2NspO-amapEWbNmw-DMe9J7kPYjz31QshQdg0Pv2QeKiA6x7zma0"', 'secret', '2026-11-23 02:39:55.221');

INSERT INTO public.signing_keys VALUES ('JyB10fGmIV5uqt3BLA1tpZrvXaQoHDcpmehFVcUKhsc', 'oidc', 'RS256', '{"kty":"RSA","n":"20bHCqF7-uH2-KA4iGiUNPhdvqwsM0ObrURmZ6N7IM25QgDDPUVALno2lyD57mNMrbR7mEvWgfa55XI_F0V2relUvvW4ILCICXZTMh2uchTQc_uiVuQPVZbDoTl3tmu0kZZY4LLaRH_K4lprjjlVdc68MxK-x_OKMkncU3YM9WPmGX1UE_mZM3NBmBdKC4CUsYQDw3qfzTqvRDfxp-jZtGBm_3GCd3cxuf7DkYqB9R3sOXfjZo_uDNVTNZaYd7ACy24m59y4jOhLAkYETzDolSCcb7aH8UGn5QNam2zR0UJYJ019V_t2BiGTFX_RNM4ssU5ZydvmB_6xT3QUQYyxUw","e":"AQAB","kid":"JyB10fGmIV5uqt3BLA1tpZrvXaQoHDcpmehFVcUKhsc","alg":"RS256","use":"sig"}', 'v1.JvsG8psY.C1aMyGnbVMimI637HyDUtMxkcdX21z4u6rpIcxnfSe9vDVBUe6R-m-Lqvl1vVEKmsQpC5PfIbmFk9lQW9iRzY0CjA4U6OAmOKld3bje4DAzA0tOhEZAJ-zIKwI9zjvMdCaBHz48snGyDW3kMT69LKP2DjXygBJ2seWj1PSXcqtd1ODcBrsOKFgoa0wURDe1R4yF8Pc4ulIv9tDEPM4z1cO6AX-1W8CTMJRQA84mgbyWv5gGoM3-1ik9rjlUq-WMdnk3-9FM_ODWKZXqsVr_T-VcL_lt0Gz3rg7J8_njQXDRjXbmuIFqP0eBfI_k51HXBVmIaB20Lm43SwKWrOJa7_U_g2qbeBACX8bjCCzxrfzQXRZC6btWxEC6X_EFOHEBmKO2Edqkn7tytSrQjEEl5xh8VfkVCSYR-4F5uOBwfvu4Nre9oHyuy2kPk5XR-tNXShkL26vUP-PO91ScCjI22PvwVYNBEEIYjbEm2TsxqxNfmmAjtw4VMXHAr-QaN4u81herZ8hE0t7pC_uGPRmyxwPopXHzSvRDmfprlqYld3hhLRf401TK17lc6sekU9Z3a0LuUGS8Z-w_9OTMfFF2KeUYzaByEKEQjL4ncBCLUdykJEZuhCCNlSBcDsxmpHerXygjX94AXfF7oambPN3COdhsKHA1OC47RnL3wUqvGN-zeR484GzcSXNa-TjYI_EqNhbc03YKF2MxOQZWWaC8xC6HxuklnLLKvLhar7KtjuLcAaXycz6MGliFpsh9mWu6Tvk9oTnpflPj0h1Bnt4CYVlPu0KZg247hAqujYR7YW_3NsPtbYIrxMIHSxbTNPiCI_wydMYTVrkvUDzKNgXiarDMkIGqV0pq946ueGWTWNLvspKtVUcAFmt7UpMc8yoSmqXo6I1p5JpJ06ZOpMLjvgcdje0IsOlikAKJ_oFqLLtpeoLHP1X6pLxutHnCPQfG_B2qR3UZxZZKZ4wIvH2iqXJ7n0QaEemtza6mpgPHJT6KX_sYhNz02gj8sW1NLyGKP7xyWqeYBJiVYREpsvWSLfa92UFGs_RLbezsqVPTlxm9l67wno889AXBX194rhEvb46GsOlwEp6Awnk5L7X28N_9tUaTiIm_3g5i9jUfj63NNsFoxWB8fdWU9KAcBFzatytylWdsNKoMmHTHCkuNdVY5dEbfVsekmh7SjgIOvGNINt2NwE00cgx7d1ehxSGQPdTHwANksQDYPFy_yXzzDFhh_al5D-gYY0t5wpPfZMqychQLxrWb0G7S82EZWnPmZmCi-0BEMHVS5yJSUErzVilNnwCMd-WkDxc6hbT64um4bP02o9TbANK2dGaWIbi61btn858ylJS408g6ROrRDnVVofAE5XjU_5brbN7Dp5rYAL-W5nBBcx9MuRxzkn_NkJusFxbpfiWAh-vYF4V3mHZ-EAtXwDGPu1FnfNEkTGjgzBrX0I0HdBlGinOB7z-6F5e76iquv6YJ7HKxLvTCTc7bVhlU5Nfkxr8jlWNtvUofhCrZ9-d0G6xbE__hqPFWGrKXmDe1EA0CtN9qioLFuziw8PS3FJoKRG2pROfo1QEXTIx1_6T0YJV_mK35m3EKiHgMie8vTIIgBtcHEGf3cg8KZ-t-wSZD2K6dG7duqMeiyuOxy0QWIKGLZRjGXDA', NULL, 'active', '2026-11-23 02:39:54.322', '2026-11-23 02:39:54.322', NULL, NULL);
INSERT INTO public.signing_keys VALUES ('11WPLw0E4l5oSctaVgb5MojadUREUSvcm4LIGf4SK2M', 'oidc', 'RS256', '{"kty":"RSA","n":"22gYIbbyKIRRi66s8EPcEt3P_MD5OcuL9p1v7PjvfIHKkSxUXzCjuUUa10f_1PHDxrsoL0FS3iosRCRhmW6sKW-89hme_PaosMONnZURYKcXDk8dLzS8HT0YwjPJAasWhaXnb8s3r1YDEvWksgH-uF80ubFRFc_TlvaIVnlImXuki5A201NQKuwrthg5UCjkEhV34X_gFkwrw1zm3-pZohJiK3PnBniOB0XdRatVL5Odg3d5jcWvcRWYJrpcB2XtLVZab7jpe-FBWtXCKdGwMTmqmEI4k6UUTMcNomiEX52AXq21fA67MXfTKZjnESW4MrApMZPeAh7uJ5k2ZeKsFQ","e":"AQAB","kid":"11WPLw0E4l5oSctaVgb5MojadUREUSvcm4LIGf4SK2M","alg":"RS256","use":"sig"}', 'v1.JvsG8psY.XvQhS9XYXhxxbyEHzOJA-yVR5ivCCpsV0HwJCMwXSDfDibJjRA_kM_tj0v10pshDCv0XAIjV6oGi1UnGFP5tJV-fu4FFnHJTybHSv136EdvzgmFUcEjwUrK_wPJcO7doiAE2acYd25D83mNNnCt0KJQKve7IubgMLzK7xEcQOM1IbaZUHsJIE_93gS9xYwqraqVVoLG2mUu09Etw9ZlC3anPaVFMSHSx2t3s0iiH0qejBuDe-Ux2-I6sxnww41y1cSn9bdPZDek2EmwNXNr7WVAlAIgmIFXruVEyjNiwLRY9EfzsyN4YrNwI2SY1jGV3HzJCUlFdD1VDmkyuLj4m-qLxYbCvtUu1HI5epbOjZ7_gJ1JQkS-gZLwtdaYXgCzjmVGzvqwMnL_9z3HmyBygZXTDNW-e1OcVkWOP1yjCfaN5FYz1ogOK7inOt5ds7dOAiQxvU4ZgS3Yz_CshVGuPUtM7uUfYkj69E96nxxFOMYlomPb7HTKypimWcittjjVJu7ApsV2ru5DyPI18NaU2vVewaVRLM4p-jtTe7UBoMBRBCpPOvVGzmyaDFOBEi64ahO96vC8UhVzdfKRE62bfaNLlRA84d0-I1bHVqC961YdsTMurgvn0QxJjKw2g8aZhfgVGoOH6q1Z5u00YDX7N4NQZ2j3drarTbBJLcY4uZ-FOPhwT7KA121VJLFRqwSB2bO84IwIBM6oS4xvDCEdHfW0Yv25JZHTnDaiYy3kGtEvVSToBlVJgK5qjr1-gvM6Ya1GUGHbi77ifkS_iNGceyWHKKKqVimhyf0mh10xPmzKUZ2ooiM8Abuhz26CKW57_45MQSti2F_ge4k8oXEkAahJqKBZIVMwEFJwK7jF8d2_CCqSUtROkNG06VylTVjQdt4hess2HXPLxeQQGzELlY7CfwxSQqA2JRptqZ8twmL_COr6AwQSaqcR3s8k1bRBcEzGRupLbhj34s7fMnfV0VWQhJRhpBV2OZvXcfq26gQPZrlxR5kLr5AJYjcIItrZ9HTICiAf-Qtour3TsuYpFFTj6_5NojOOWScoZvYVifvTw1WtFUiqoL14YKX1Pa5oyLFKLeoG5plwOXQxWOH1pMz6bz5DvkwSXAfa_4n5TD7mNG35zHteRD17SFp7iko4qWgagBWsT1zFwo_TVTdyuMarRk95jDr48q0tOIvtLrHY9nGShQk94G6urIJ7mhGqjUS7VBDyb4c9Bd3wUAlPoYa0noAoCioXzB6x1a0a71vFyLZrSyMEd1O061p3wKPs2D4EibSq_ZozrU26AoS8BvPlQi9yjpVIp4k6pcIIoHZhTT5zffxe3Wv7l2viE_Oeh9N-IJkJoV_e2w0psH057qtywaUPWf9N_js0J9TMcSYrlosuG9WK5yuXzBDlON6KYZi8rYDDTc6GPlqeEAG2_vtiqPKIQjjVVdYU3A8nz_9L3MbWdkZbfhCDP67VJSgFnv3w-zkN6RKhBxar_YHUttoSShvXJr0ZqVGVlHMRX7Cc7Bd-zZaSxaw4BLLHgfJUxsP0MRoRgP86HkhtfGr_Ut1NmbVs67FkIaalZKv-HA6K0QuJlRUr_YGbFqh9w2GRBxA8il1LjlcKwslw36rvw9Owtg_iEjEBNWilECoiNKm9hN-OMDt3LegBlg-Yy', NULL, 'next', '2026-11-23 02:39:53.629', NULL, NULL, NULL);
INSERT INTO public.signing_keys VALUES ('PAwuYdmwyJZfZP01kPqTpDR7wJ8JczAi-q2C9BNMZGo', 'oidc', 'ES256', '{"kty":"EC","x":"ZFIHrQCQ7c7urPcj3gTCUxEcjqcGKh-d39YKJ84dfsU","y":"IEVq1YTJCkoL4t4WKbcFqa1k65XRewM2vz_h3g0eLvA","crv":"P-256","kid":"PAwuYdmwyJZfZP01kPqTpDR7wJ8JczAi-q2C9BNMZGo","alg":"ES256","use":"sig"}', 'v1.JvsG8psY.bAoaDJMtz07lPN1IRYMnZyd1tivj8caSOk3aj4ZG0Xm223w4jV6OjuYR8DYWWLYwuKhZaSzJsFHsI8tJnfYDU9RvXS3rsORuY5GDkpyrjENp1gAe1pywyhl0Xp4CpvmDfJmmldaB_y7MU85IkVIH2G2MMijx-eHcrNFa6SZqvgXb-HqCPV3LipQZuiM4lB_3LcGu3Z2OE5tul9Op5xC0uNqh3vanjg', NULL, 'active', '2026-11-23 02:39:52.907', '2026-11-23 02:39:52.907', NULL, NULL);
INSERT INTO public.signing_keys VALUES ('qBKNIbOjQ25KWVlxlGQOGgMIgYBoDdhXwr6zCpxz-p8', 'oidc', 'ES256', '{"kty":"EC","x":"7LRbWJe76nREcPob_Kxs069hBbJTt6Vkqw7Q8COioeU","y":"gQoAA6hSZDdzUvsGJdIvVkSvBge93dHg4QPFFYMYudQ","crv":"P-256","kid":"qBKNIbOjQ25KWVlxlGQOGgMIgYBoDdhXwr6zCpxz-p8","alg":"ES256","use":"sig"}', 'v1.JvsG8psY.o91OLakUt7-xvFrNftRGuVddf9iYGurs0g-aTHSUXAgpOwZAsPqlitZibEFZrghly4APA7rv1meEPhF98t73FXiasHQuBpFGHUZOZjW6qp9BLZgjG0kfD3-JxA4SQKLKXTgfgyvBANuzhxtGnMrb_3FIbf0NaIMLv7zxmps4oxMw3_l_CnUQmYNOH1nP_e3T16XQXjQCwlJNrzkLoEcB7qmwjpc_qQ', NULL, 'next', '2026-11-23 02:39:52.956', NULL, NULL, NULL);
INSERT INTO public.signing_keys VALUES ('ULfH1LpVMUxgq2hhfQPf3oTCzeCXgrZw_KwzNsZVd84', 'saml', 'RS256', '{"kty":"RSA","n":"3Q8lmV_zbOgkflRsAmazfR6CBCiSU5Jd87QssJ4rpWxPFVh8ic83JpyOAZ-9vqVfBAjpp3j5M5G4yIYLb-PvVx89DlEeMfXEvsLmB8mKETyI3EYAQsDdwObiG4JY9R_De7pFU950Mj4-JeChOaaPxT_rdptnvwtAtYDsJrjXGbnWXcjc0joCugSB2Zz2oUWD4JYejHfGnHdHRkh8RjgLy3-Yn8vaUSWas30GAQ89nxDHgmz1Got8yAtpOoMcvEMdgYsjQSMxI7GprcYE5gII9T64IPb2A17qC21589PRgJpRyS3iIGBPPMq-bahSinUPvTXnuB9xnhd9ujJYyQS4nQ","e":"AQAB","kid":"ULfH1LpVMUxgq2hhfQPf3oTCzeCXgrZw_KwzNsZVd84","alg":"RS256","use":"sig"}', 'v1.JvsG8psY.YyFuGREgoyMOENk6xe5DxzVTtFoJTWUNDSs1AEz7frkIO6JhOm0abSQzp8Hlu3ChkOMEP25AtKm4hDxaPrsOhzzFIUtBEcJImiTC2PR_mYL_OCsmYzw5tUqj1HlOJ1Tm9vFbUCmzpY751gQjv5Q3Fxziq43SOY4diC2WoTgf5If8xKj93nuoJy9Adg6Se3MQgOal0oTOh5S0T_8M0Khgih3lwDw9ELy05yCosFx3EN8BC0kTuJDiUCGKJ0HOvWbOMbMnXdFiCFYewF2Ubpo-f1acvhOlCMb2xCs5F0DJYTH7DJsXiTWCrTX2AIVdsLRH6nPY5eGtuMY04smFU6-pu65T-awHs1JU64L5aRTakrm6BU0xtzKdGkW73v_XKMORoXjWMX6qX2P2893IeRhvZrmi_g4t_Jqv_hGOA4J4hMQnwcquHmNHobH5_1TCAqhnM5uPo6UJ7aXq9Vg9tjJS23ov4hF002kAUKgEzfZ0em8WcxdfA_eFEeBIeRHSuM9eljeyUwj5vrW6iUX1ahD32zj9BSsqaXKg9RkCsStvq-KTW-h5hcc7Z3de1EWQ47384s0zDTtA7TikCXMEn0hAGDo1CQm0-ouAK512GXB29D5znUzl1yIzJ-NGMzlvCtnLgjgmTGUE1XnZivQhEUtUK-PIXnosq05lZwDaWMEUXDhdmP0knw_wgUoFgyAAWGaYunbKq-OuBBynlUyJjcKT1HJX563dQRy3ZT9JUyinCwvtH4lw3Zn8WF4X1T6a8Q4hQHzTPp6MY3eAyhL7zAdi6GgClIldzQolT5zD90BWCZBP2FZNJIb72JoX-6Tu6tOH7NnRShOPl6EkA80pUYfAfMryR-qDb2ZQrvws5le9mSBttKkPL52FFV2Jk5kom4qQ0nO_gLlb9nIRA6JcunlVo4MJbCjcVlRzFHVvAHG9vk-IXEzLJXDiG2OtDEpxakeXVNtyeXoy09aol-P-PL7SHo0baD9bFRV6YtZb_-NSs39agnkTL4w5AeTwdDQDDBXthH7N8WXfEJWoQ3TetB3AfWaE1ZliGhwZx01DQtM9qNcnsjMwDi5DFm-csqscn389bwAJUmg5Zkycqns6bkQoE2r-2afgSjR9jz_qyp_LuO-RTHCydPbcL7GlpPUEsg8V1m3Hm8WeFfJX9LYj6XGwdbkNo7NFYDx5hlJU_twWEhgV5BwovGcKZIWt4XeGwu9RsrZF8VUQoapQrxCiKibFuz7kDcl0_WtmFQbgihReE5DSx6_usnat-13F3kIPhxweBliy6iHBfNl5ahyRGdckkhaFO1ygptwUCR_Ctb7mWSHv2oF9AglqasMlqCGu7ATPo-uL3IVwvkzl3L7TGHwpY4ptRwRdm77lVaD91KlAEPTw7LD_OaDXYvFWPN2oKg2T80qEBwAQyB28ltXEa6Xxj4yYVyARffRi6AjxJ3I3Q1n6rArkx2Od0LtnEgw7SiHvcZfulpR6IWSDkLMNyoRL6Z66zN2PVQaAXEk3mLo32N5zkcZwy-FCaThmsOd9qYNyUHtIU7hmvnsL0qJJQvitz_3EVLH7WndoA_Vv-sTXdy91sPwWNnaickolOFTARF1LnyCGbgwFXhXo8TGojGcIYktws0NkRNJLiDY5XC5xaUaTMeL0KFfNAdAJeQeI', '-----BEGIN CERTIFICATE-----
MIIC4TCCAcmgAwIBAgIQXQXCOniB0zKj8NoJWUprmzANBgkqhkiG9w0BAQsFADAU
MRIwEAYDVQQDDAlsb2NhbGhvc3QwHhcNMjYxMTIzMDIzOTUzWhcNMjkxMTIyMDIz
OTUzWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwggEiMA0GCSqGSIb3DQEBAQUAA4IB
DwAwggEKAoIBAQDdDyWZX/Ns6CR+VGwCZrN9HoIEKJJTkl3ztCywniulbE8VWHyJ
zzcmnI4Bn72+pV8ECOmnePkzkbjIhgtv4+9XHz0OUR4x9cS+wuYHyYoRPIjcRgBC
wN3A5uIbglj1H8N7ukVT3nQyPj4l4KE5po/FP+t2m2e/C0C1gOwmuNcZudZdyNzS
OgK6BIHZnPahRYPglh6Md8acd0dGSHxGOAvLf5ify9pRJZqzfQYBDz2fEMeCbPUa
i3zIC2k6gxy8Qx2BiyNBIzEjsamtxgTmAgj1Prgg9vYDXuoLbXnz09GAmlHJLeIg
YE88yr5tqFKKdQ+9Nee4H3GeF326MljJBLidAgMBAAGjLzAtMAwGA1UdEwEB/wQC
MAAwHQYDVR0OBBYEFNoA18gjlh26jsDm0jiWAEsnRZF9MA0GCSqGSIb3DQEBCwUA
A4IBAQADHEsMWOG9bjtVGsCCwHcVS14nEa4c6h73KzrsRJojGDhOo0TCr0i3P4Jb
igvY8CB/aS0leNDmOMjxYQqYpfHPCdWUSrH/mBVsSaF/5+xdmVS5/QJ0aKVnd11Y
rZL3Z/motHobU/1/aslatHb6wzW/SCDa5hfENnKvX28Ik9RmAPHED/g2cu6y3mL/
T437cvi+E+4+61tZJhoLjnxQDIXracoLlhwhUnRoKyFbnamhGupfrtlkTSaRK580
QxXMbB4+6shSkrJQtgrVKJI1ZfEMjRA6JBLTy64oz/2dy/eYOoqM98IxKcvZW6SD
LfkaY51TcptHuAurcHs4OjQ/bkxi
-----END CERTIFICATE-----
', 'active', '2026-11-23 02:39:53.878', '2026-11-23 02:39:53.878', NULL, '2029-11-22 02:39:53.878');

INSERT INTO public.user_roles VALUES ('AVIe9HMKGNb3vt5WJQT0Tl93', 'k3EBfKfjF_a2MVKBsj-tDHWA');

INSERT INTO public.users VALUES ('UPu9wNnaLaqyESqGTLTdlmx4', 'ann', 'ann', 'ann@example.com', 'ann@example.com', true, 'Ann Example', NULL, NULL, NULL, NULL, NULL, NULL, '{}', NULL, true, 'local', '2026-11-23 02:39:27.616', '2026-11-23 02:39:27.616', 'ann
ann@example.com
ann example');
INSERT INTO public.users VALUES ('AVIe9HMKGNb3vt5WJQT0Tl93', 'root', 'root', 'root@example.com', 'root@example.com', false, 'Root', NULL, NULL, NULL, NULL, NULL, NULL, '{}', NULL, true, 'local', '2026-11-23 02:39:34.313', '2026-11-23 02:39:34.313', 'root
root@example.com
root');

SELECT pg_catalog.setval('public.audit_events_id_seq', 11, true);

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

CREATE INDEX audit_events_type_at_idx ON public.audit_events USING btree (type, at);

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

CREATE INDEX mail_messages_sent_at_failed_at_next_try_at_idx ON public.mail_messages USING btree (sent_at, failed_at, next_try_at);

CREATE INDEX mail_tokens_expires_at_idx ON public.mail_tokens USING btree (expires_at);

CREATE UNIQUE INDEX mail_tokens_token_hash_key ON public.mail_tokens USING btree (token_hash);

CREATE INDEX mail_tokens_user_id_purpose_idx ON public.mail_tokens USING btree (user_id, purpose);

CREATE INDEX oidc_artifacts_account_id_model_idx ON public.oidc_artifacts USING btree (account_id, model);

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

