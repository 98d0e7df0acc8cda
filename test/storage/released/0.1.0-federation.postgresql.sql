
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
    role_id text NOT NULL,
    mac text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.application_users (
    application_id text NOT NULL,
    user_id text NOT NULL,
    first_used_at timestamp(3) without time zone NOT NULL
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
    updated_at timestamp(3) without time zone NOT NULL,
    mac text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.audit_chain (
    id text NOT NULL,
    seq integer NOT NULL,
    hash text NOT NULL,
    mac text NOT NULL
);

CREATE TABLE public.audit_checkpoints (
    kind text NOT NULL,
    seq integer NOT NULL,
    hash text NOT NULL,
    at timestamp(3) without time zone NOT NULL,
    key_id text NOT NULL,
    signature text NOT NULL
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
    chain_seq integer,
    digest text DEFAULT ''::text NOT NULL,
    row_mac text DEFAULT ''::text NOT NULL,
    salt text
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
    expires_at timestamp(3) without time zone,
    mac text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.connection_documents (
    connection_id text NOT NULL,
    kind text NOT NULL,
    content text NOT NULL,
    mac text DEFAULT ''::text NOT NULL,
    read_at timestamp(3) without time zone NOT NULL,
    next_read_at timestamp(3) without time zone NOT NULL,
    failing_since timestamp(3) without time zone,
    last_error text
);

CREATE TABLE public.connection_domains (
    domain text NOT NULL,
    connection_id text NOT NULL,
    challenge text NOT NULL,
    proven_at timestamp(3) without time zone,
    checked_at timestamp(3) without time zone,
    mac text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.connection_role_mappings (
    connection_id text NOT NULL,
    group_name text NOT NULL,
    role_id text NOT NULL,
    mac text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.connection_secrets (
    id text NOT NULL,
    connection_id text NOT NULL,
    purpose text NOT NULL,
    value_sealed text NOT NULL,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    expires_at timestamp(3) without time zone
);

CREATE TABLE public.connections (
    id text NOT NULL,
    kind text NOT NULL,
    preset text DEFAULT 'generic'::text NOT NULL,
    name text NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    "position" integer DEFAULT 0 NOT NULL,
    settings text NOT NULL,
    source text DEFAULT 'local'::text NOT NULL,
    mac text DEFAULT ''::text NOT NULL,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) without time zone NOT NULL
);

CREATE TABLE public.consents (
    id text NOT NULL,
    user_id text NOT NULL,
    application_id text NOT NULL,
    granted text NOT NULL,
    granted_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) without time zone NOT NULL,
    mac text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.data_keys (
    id text NOT NULL,
    purpose text NOT NULL,
    generation integer NOT NULL,
    key_sealed text NOT NULL,
    created_at timestamp(3) without time zone NOT NULL
);

CREATE TABLE public.external_identities (
    id text NOT NULL,
    connection_id text NOT NULL,
    subject text NOT NULL,
    user_id text NOT NULL,
    label text DEFAULT ''::text NOT NULL,
    mac text DEFAULT ''::text NOT NULL,
    linked_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    last_used_at timestamp(3) without time zone
);

CREATE TABLE public.first_factor_approvals (
    user_id text NOT NULL,
    requested_at timestamp(3) without time zone,
    allowed_until timestamp(3) without time zone,
    reset_by_mail_at timestamp(3) without time zone
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
    expires_at timestamp(3) without time zone NOT NULL,
    mac text DEFAULT ''::text NOT NULL
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
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    mac text DEFAULT ''::text NOT NULL
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
    expires_at bigint,
    mac text DEFAULT ''::text NOT NULL
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
    user_verified boolean DEFAULT false NOT NULL,
    mac text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.password_credentials (
    user_id text NOT NULL,
    hash text NOT NULL,
    must_change boolean DEFAULT false NOT NULL,
    long boolean DEFAULT false NOT NULL,
    changed_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    kind text DEFAULT ''::text NOT NULL,
    mac text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.password_reset_tokens (
    id text NOT NULL,
    user_id text NOT NULL,
    token_hash text NOT NULL,
    expires_at timestamp(3) without time zone NOT NULL,
    used_at timestamp(3) without time zone,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    mac text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.permissions (
    id text NOT NULL,
    resource text NOT NULL,
    action text NOT NULL
);

CREATE TABLE public.phone_factors (
    user_id text NOT NULL,
    number text NOT NULL,
    confirmed_at timestamp(3) without time zone NOT NULL,
    mac text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.rate_limits (
    key text NOT NULL,
    points integer NOT NULL,
    expires_at bigint,
    in_flight integer DEFAULT 0 NOT NULL,
    in_flight_until bigint DEFAULT 0 NOT NULL
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
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    scope_permissions text DEFAULT '{}'::text NOT NULL,
    mac text DEFAULT ''::text NOT NULL
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
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    mac text DEFAULT ''::text NOT NULL
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
    expires_at timestamp(3) without time zone NOT NULL,
    mac text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.saml_metadata (
    application_id text NOT NULL,
    url text NOT NULL,
    next_read_at timestamp(3) without time zone NOT NULL,
    pending_xml text,
    pending_key text,
    pending_since timestamp(3) without time zone,
    rejected_key text
);

CREATE TABLE public.saml_name_ids (
    id text NOT NULL,
    user_id text NOT NULL,
    application_id text NOT NULL,
    value text NOT NULL,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    mac text DEFAULT ''::text NOT NULL
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
    expires_at timestamp(3) without time zone NOT NULL,
    mac text DEFAULT ''::text NOT NULL
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
    updated_at timestamp(3) without time zone NOT NULL,
    mac text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.sign_in_attempts (
    uid text NOT NULL,
    user_id text,
    factors text DEFAULT '[]'::text NOT NULL,
    data text DEFAULT '{}'::text NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    expires_at timestamp(3) without time zone NOT NULL,
    mac text DEFAULT ''::text NOT NULL
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

CREATE TABLE public.stored_forms (
    id text NOT NULL,
    user_id text NOT NULL,
    form_sealed text NOT NULL,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    expires_at timestamp(3) without time zone NOT NULL
);

CREATE TABLE public.totp_credentials (
    user_id text NOT NULL,
    secret_sealed text NOT NULL,
    confirmed_at timestamp(3) without time zone,
    last_step bigint DEFAULT 0 NOT NULL,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    algorithm text DEFAULT 'sha1'::text NOT NULL,
    digits integer DEFAULT 6 NOT NULL,
    period integer DEFAULT 30 NOT NULL
);

CREATE TABLE public.upstream_requests (
    id text NOT NULL,
    connection_id text NOT NULL,
    purpose text NOT NULL,
    bound_to text NOT NULL,
    data_sealed text NOT NULL,
    answer_id text,
    answer_sealed text,
    redeemed_at timestamp(3) without time zone,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    expires_at timestamp(3) without time zone NOT NULL
);

CREATE TABLE public.upstream_sessions (
    id text NOT NULL,
    session_uid text NOT NULL,
    connection_id text NOT NULL,
    user_id text NOT NULL,
    subject text NOT NULL,
    sid text,
    name_id_hash text,
    data_sealed text NOT NULL,
    mac text DEFAULT ''::text NOT NULL,
    created_at timestamp(3) without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    expires_at timestamp(3) without time zone NOT NULL
);

CREATE TABLE public.user_roles (
    user_id text NOT NULL,
    role_id text NOT NULL,
    via text DEFAULT ''::text NOT NULL,
    mac text DEFAULT ''::text NOT NULL
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
    search_key text DEFAULT ''::text NOT NULL,
    address text,
    birthdate text,
    gender text,
    middle_name text,
    nickname text,
    phone_number_verified boolean DEFAULT false NOT NULL,
    profile text,
    website text,
    mac text DEFAULT ''::text NOT NULL
);

ALTER TABLE ONLY public.audit_events ALTER COLUMN id SET DEFAULT nextval('public.audit_events_id_seq'::regclass);

INSERT INTO public._prisma_migrations VALUES ('64a662ca-0363-44d5-826f-4b0924926903', '98dc1d79f5db55c202f41a0705c0bded3b156a3db87d94a1bb976299424822eb', '2026-11-23 02:42:53.058+00', '20261121091642_init', NULL, NULL, '2026-11-23 02:42:52.623+00', 1);
INSERT INTO public._prisma_migrations VALUES ('e416f91c-1b5c-4a98-af38-94f687ba808e', 'f6f216566691f838e9099be6bc6a62592e9ec8a88d4881307636cfda0a92f195', '2026-11-23 02:42:53.113+00', '20261121102220_lean_artifacts', NULL, NULL, '2026-11-23 02:42:53.08+00', 1);
INSERT INTO public._prisma_migrations VALUES ('b763cd31-6f14-4e38-bbe0-78e3db654e13', '0d8fb3853573289b151a76403336c84244e4ce7b03930c8f194c4adc00e9bf2a', '2026-11-23 02:42:53.286+00', '20261121102420_audit_chain_and_admin_api', NULL, NULL, '2026-11-23 02:42:53.145+00', 1);
INSERT INTO public._prisma_migrations VALUES ('ded4da20-4e0d-4eb2-a02f-2eb7778e5d45', 'a69b7edd10ac71913e8e950435a36203df3ea2e1fe1091287555620614bdd6ba', '2026-11-23 02:42:53.37+00', '20261121102726_logout_runs', NULL, NULL, '2026-11-23 02:42:53.314+00', 1);
INSERT INTO public._prisma_migrations VALUES ('9ca17f5b-30d7-48cd-8f7e-156d884b5f9b', 'a9f88ff0ca51f5a3403ee6084d202f76d913777b4c8f7af3a2efba930be42ad0', '2026-11-23 02:42:53.414+00', '20261121104606_phone_factor_and_verified_passkeys', NULL, NULL, '2026-11-23 02:42:53.381+00', 1);
INSERT INTO public._prisma_migrations VALUES ('5cda64c4-601e-4f3c-8c7c-db0b89dc2f14', '569e501a5f8446be65b43903ecc40e0567a66dcbecdb0d77ea3ba0392456fa54', '2026-11-23 02:42:53.494+00', '20261121231829_refusals', NULL, NULL, '2026-11-23 02:42:53.441+00', 1);
INSERT INTO public._prisma_migrations VALUES ('bfa99415-b09b-46e5-aeeb-ffd1618b777f', '5cfae981ebdfdfa76e69deb9d0eb1871b86c9e31d7fe75f3c259b382cbb38827', '2026-11-23 02:42:53.572+00', '20261122022102_list_indexes', NULL, NULL, '2026-11-23 02:42:53.541+00', 1);
INSERT INTO public._prisma_migrations VALUES ('ed52dd1c-7236-485d-948c-e573a5d5d88f', 'a27b4740ebd1e124c3f6ec99ac0071d3cd711bc8b00a93f8073054814998fdf1', '2026-11-23 02:42:53.644+00', '20261122164934_grants_with_source', NULL, NULL, '2026-11-23 02:42:53.594+00', 1);
INSERT INTO public._prisma_migrations VALUES ('76bd8c1f-8e0c-4f43-ba30-862ff276abd9', '4e95066eb07a0c11be194ffd2b01c0f60d92401566c33cd2f750bc19a5fde081', '2026-11-23 02:42:53.742+00', '20261122171311_totp_parameters', NULL, NULL, '2026-11-23 02:42:53.698+00', 1);
INSERT INTO public._prisma_migrations VALUES ('07f6a853-9591-4e18-99f2-b5a91a1c3604', '09a1f574c7d1d7bf041725154424e549973f891214f27b8863781426c7535816', '2026-11-23 02:42:53.758+00', '20261122171358_sign_ins_in_flight', NULL, NULL, '2026-11-23 02:42:53.747+00', 1);
INSERT INTO public._prisma_migrations VALUES ('9e459ecb-0212-45aa-961f-8cc9638ca7c5', 'fd175dd53897ee786b82f38aa641cc2ef82be7c52dc9a48b92d654ad74e820bb', '2026-11-23 02:42:53.806+00', '20261122172626_audit_row_macs', NULL, NULL, '2026-11-23 02:42:53.762+00', 1);
INSERT INTO public._prisma_migrations VALUES ('797cfad7-e4ee-4ec6-a7fc-723721f60f8b', '15ed1b0575ae0ace086f23fb5d176d59b1c7952aa1c7b84f533357a3424cd44d', '2026-11-23 02:42:53.838+00', '20261122173525_application_users_and_scope_permissions', NULL, NULL, '2026-11-23 02:42:53.807+00', 1);
INSERT INTO public._prisma_migrations VALUES ('fea44024-b6f0-4c33-b56c-824273a396de', '13416bb5ebca3295d3c280459315ad532e72d14a74ba887a1fc59bf933592a50', '2026-11-23 02:42:53.863+00', '20261122174830_password_kinds', NULL, NULL, '2026-11-23 02:42:53.85+00', 1);
INSERT INTO public._prisma_migrations VALUES ('6aee7ee6-135e-4d42-91e8-14ec6989b3a1', 'c42358c4a60b4d264db547a5624b3875277912411e1544a5b3a76843fac3079a', '2026-11-23 02:42:53.889+00', '20261122180121_first_factor_approvals', NULL, NULL, '2026-11-23 02:42:53.871+00', 1);
INSERT INTO public._prisma_migrations VALUES ('93a0736e-098f-4362-ab35-3bbdf57d13ef', 'fd0f7e6db0d812bcdacede1b0d02d0e1aec521a0625daeb5e2d8f2826ad8f675', '2026-11-23 02:42:53.908+00', '20261122181645_row_macs', NULL, NULL, '2026-11-23 02:42:53.895+00', 1);
INSERT INTO public._prisma_migrations VALUES ('2c62334f-b40b-4d17-9b02-72ada780bec0', 'e113c13407dbaaf61fd4b9c850afcc7c8c2bf54d323cf7d0289e8b8153f0db29', '2026-11-23 02:42:53.952+00', '20261122182251_saml_metadata', NULL, NULL, '2026-11-23 02:42:53.911+00', 1);
INSERT INTO public._prisma_migrations VALUES ('52ed9c6a-848e-49de-bc3c-150a12fadf39', '4059e7a708bd3b1908055b8aa119a89d89b9d25051fd37e5d9cb98acb3246c60', '2026-11-23 02:42:53.998+00', '20261122182748_stored_forms', NULL, NULL, '2026-11-23 02:42:53.98+00', 1);
INSERT INTO public._prisma_migrations VALUES ('853e4316-8330-423b-be84-1e05a2c968fd', '9c02a8e41c6392be25189043e74a6e6042310fda1ce8153daaa1fe6ea2162f6a', '2026-11-23 02:42:54.15+00', '20261122193449_connections', NULL, NULL, '2026-11-23 02:42:54.019+00', 1);
INSERT INTO public._prisma_migrations VALUES ('60f87b55-bd7c-4fec-918e-77a12d05740f', '141617a4b5e4ffabdf032072ecbb78ecb002d51150e523e8c4a6e96ef3d4786c', '2026-11-23 02:42:54.176+00', '20261122194300_standard_claims', NULL, NULL, '2026-11-23 02:42:54.162+00', 1);
INSERT INTO public._prisma_migrations VALUES ('0acb5ba1-473b-40c5-93a7-084e9f9534b3', '1cdbcb027ea39d58f52a6f718b0d76511143ad5722fde947f3c0cf38728aeddd', '2026-11-23 02:42:54.201+00', '20261122195031_first_factor_after_reset', NULL, NULL, '2026-11-23 02:42:54.185+00', 1);
INSERT INTO public._prisma_migrations VALUES ('c381033b-6c75-4c4c-9f92-03d01e88d6e4', '72ecad8101b5914493f4226bf92300f258bcf035f33cc90ca4cf53c0dda04385', '2026-11-23 02:42:54.241+00', '20261122201304_row_macs_everywhere', NULL, NULL, '2026-11-23 02:42:54.204+00', 1);

INSERT INTO public.applications VALUES ('Jk5qPmLGUr1NkdpqZoRMdz_x', 'shop', 'oidc', 'Shop', true, 'implicit', 'everyone', '{"application_type":"web","redirect_uris":["http://127.0.0.1:4000/cb"],"post_logout_redirect_uris":[],"grant_types":["authorization_code","refresh_token"],"token_endpoint_auth_method":"client_secret_basic","id_token_signed_response_alg":"RS256","subject_type":"public","response_types":["code"]}', 'local', '2026-11-23 02:43:22.683', '2026-11-23 02:43:22.683', '3MbiB6Ky.wZLJQrrchrmrqiiMIdZCbIOAtjehDmiReleP3XVK6l8');
INSERT INTO public.applications VALUES ('sDMAo6TXDHG3L6PjmpC4z48y', 'https://wiki.example/metadata', 'saml', 'Wiki', true, 'implicit', 'everyone', '{"require_allow_create":false,"attributes":{},"sign":"assertion","encrypt_assertion":"auto","idp_initiated":false,"allow_sha1":false,"metadata_xml":"<md:EntityDescriptor xmlns:md=\"urn:oasis:names:tc:SAML:2.0:metadata\" entityID=\"https://wiki.example/metadata\"><md:SPSSODescriptor protocolSupportEnumeration=\"urn:oasis:names:tc:SAML:2.0:protocol\" WantAssertionsSigned=\"true\"><md:AssertionConsumerService index=\"0\" isDefault=\"true\" Binding=\"urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST\" Location=\"http://127.0.0.1:4100/acs\"/></md:SPSSODescriptor></md:EntityDescriptor>\n"}', 'local', '2026-11-23 02:43:31.799', '2026-11-23 02:43:31.799', '3MbiB6Ky.tTLiRYG25Vf2YuhAaZJA_JRacDKf5Vwx1wgnoT6AFzo');

INSERT INTO public.audit_chain VALUES ('head', 25, 'ffab5ee2f28aa93c9da9146cfc5d4c0077fa379404b1b71138eb96d95a24f731', '3MbiB6Ky.5y86DEHK7iig4kLFZIvZMlKE9VbN9UYNgFsh7WvUZpY');

INSERT INTO public.audit_checkpoints VALUES ('head', 20, '61e022bca841f5275c47605301d4bd5e4e917016f9739663e56782974dbd40e3', '2026-11-23 02:43:46.504', 'ee-xG1F0', '5T_nooxbK4pKHx3Psos0uMURxNnxxckpfAuollu5lllILUj2qvfoezcXXKoJvASh4uT_F4jaXkHTtG2UyWK5Bw');

INSERT INTO public.audit_events VALUES (1, '2026-11-23 02:42:58.158', 'role.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"after":{"name":"admin","description":"May do everything in Gatehouse","permissions":["gatehouse.users:read","gatehouse.sessions:read","gatehouse.applications:read","gatehouse.connections:read","gatehouse.roles:read","gatehouse.keys:read","gatehouse.audit:read","gatehouse.settings:read","gatehouse.mail:read","gatehouse.users:write","gatehouse.sessions:write","gatehouse.applications:write","gatehouse.connections:write","gatehouse.roles:write","gatehouse.keys:write","gatehouse.audit:write","gatehouse.settings:write","gatehouse.mail:write","gatehouse.users:unlock","gatehouse.users:reset-factors","gatehouse.users:reset-password","gatehouse.sessions:end","gatehouse.roles:manage","gatehouse.settings:write-security"]}}', NULL, '03e180b68a518e9ea656736e851ab49cc28747a15c46f5809feac77d11dc77c6', 1, '9bc6233faff16790b60deb3983cea955cb054696ca445cccd21ef57ca8ff30fe', '3MbiB6Ky.p9aMz9t6Ty-oexUpjYXmU_W-YRu8HSWJISOO4NPNnSo', 'oUS4DwJTRb4Rezu7IKEXXg');
INSERT INTO public.audit_events VALUES (2, '2026-11-23 02:42:58.73', 'role.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"after":{"name":"user-manager","description":"May create, change and delete users who have no more rights and no other roles","permissions":["gatehouse.users:write","gatehouse.roles:read","gatehouse.users:read","gatehouse.users:unlock","gatehouse.users:reset-factors","gatehouse.users:reset-password","gatehouse.sessions:read","gatehouse.sessions:end"]}}', NULL, '86a623eff4aaf31192de17fe6bd2a09a9722a87f9d2ba0ab608ca540ecdb10d9', 2, '5def2d89a6c76801a7cbf33968af5fdfc5783242d59c6f3b5ed37c82c0c16b98', '3MbiB6Ky.6TqyKWlM26--dyv3UPmVc4QtvoqRZUlm5vA3aQk7XAE', 'E7VCaYZWVPO_20DCODOdug');
INSERT INTO public.audit_events VALUES (3, '2026-11-23 02:42:59.038', 'role.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"after":{"name":"application-manager","description":"May register, change and delete applications","permissions":["gatehouse.applications:read","gatehouse.applications:write","gatehouse.roles:read"]}}', NULL, 'f49495c7bceab7ba9859265b5d3f19e0de06e09cd6fd3ce90bfa42a8d649759b', 3, '39f0cbba169fe3e550078e8fa8717c33cdb5ff4a921143bf3377999e78b5b218', '3MbiB6Ky.GO7HQTXVoXQNt9i-I2b5k8PvCQwXM1VhgaKDZHTtFZc', 'SKRssNnAxi9GvSl9a4A7Yw');
INSERT INTO public.audit_events VALUES (4, '2026-11-23 02:42:59.506', 'role.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"after":{"name":"auditor","description":"May look at everything in Gatehouse and change nothing","permissions":["gatehouse.users:read","gatehouse.sessions:read","gatehouse.applications:read","gatehouse.connections:read","gatehouse.roles:read","gatehouse.keys:read","gatehouse.audit:read","gatehouse.settings:read","gatehouse.mail:read"]}}', NULL, '02a18fd6ebf389bb885722105db8f055011e534631d1a22ea80ea32d42db7fc2', 4, 'c27b94069e4dfbb2f8b3175491fc86b24218ea1f2d9fb52c171c13eb1a9e4204', '3MbiB6Ky.93qcIeJ3CQJ4advrPAwVzHE0b12dzOZ1xCDb6ht2ayM', 'bXiF82i7u07fxhLaMX53qw');
INSERT INTO public.audit_events VALUES (5, '2026-11-23 02:42:59.89', 'role.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"after":{"name":"support","description":"May help people who cannot get in: unlock, reset factors and passwords, end sessions","permissions":["gatehouse.users:read","gatehouse.users:unlock","gatehouse.users:reset-factors","gatehouse.users:reset-password","gatehouse.sessions:read","gatehouse.sessions:end","gatehouse.audit:read"]}}', NULL, '98746ad6a046c6f05acb484c1640b5fd770db73df9be5b19c3c71bc673abfb0f', 5, '2c5e73b5288effb8c74c35eeb2ab1eb7c0a6df7aae130b7b40001a814baf64f6', '3MbiB6Ky.Z97y_6ChYYL-1yR3-dQ9S-pV9UWlBgJGD90ksHCEPlk', 'hK6LhzPsvzNwh5Bz_IZgDg');
INSERT INTO public.audit_events VALUES (6, '2026-11-23 02:43:01.5', 'account.created', 'success', NULL, NULL, '_LAGCutAgxpvfGfVKselVqvj', NULL, NULL, NULL, NULL, '{"after":{"name":"Ann Example","username":"ann","email":"ann@example.com","emailVerified":true}}', NULL, '8e89825366f84b01cf7c811c00182b1ed0bf68f2df449e44bb0137c8a61becde', 6, '0501fdffdc322b989fd1653535b3e5a2f7e4cab9562cfe2b0cd690ece996af6a', '3MbiB6Ky.iMp-eg9P83x39erSgf_uxXJhirnfcrUB6hMq5Zc2cuA', 'DyCLOHSpQVQjU7SSGpWtKg');
INSERT INTO public.audit_events VALUES (7, '2026-11-23 02:43:01.731', 'password.set', 'success', NULL, NULL, '_LAGCutAgxpvfGfVKselVqvj', NULL, NULL, NULL, NULL, '{"mustChange":false}', NULL, 'd8906efa2f0c903fc5a90d094e2511823293fe54ffe881e8cb35e54a6b4709da', 7, '01e794385f776e6197bbdd52131772bd2ccff42b5e47eadb109b368bc5ce1654', '3MbiB6Ky.xLWY_vF5ITHQhNx5gxVLHGUwaiGgDAepqgOmzclfBvw', 'dFRIXcuNMDPN0p2RZyupQg');
INSERT INTO public.audit_events VALUES (8, '2026-11-23 02:43:12.531', 'account.created', 'success', NULL, NULL, 'uZc6NQabFwWa-ruKrw0A7R79', NULL, NULL, NULL, NULL, '{"after":{"name":"Root","username":"root","email":"root@example.com","emailVerified":false}}', NULL, 'f6f1a3fb5b4e1022444b034ad4e6c6cc7267046cd0e82b1f774c4c54684766f5', 8, 'cca4491e4e8f7bfbf3db8bba4f0b9d26df25edf82778e6a1ebd46a03f104fdf0', '3MbiB6Ky.2P-JfZNTfJzytBvrvQOZXbLEYLPuhyjlSCm4UPbmbcQ', 'QwBlXODyfIAmeZCcMDAsbg');
INSERT INTO public.audit_events VALUES (9, '2026-11-23 02:43:12.813', 'role.assigned', 'success', NULL, NULL, 'uZc6NQabFwWa-ruKrw0A7R79', NULL, NULL, NULL, NULL, '{"roleName":"admin"}', NULL, 'bb7fb42116b8dbc59b3552f26fd8148116579ba802c58051b47c2549aad5d9d3', 9, 'b7becd0ee4c2b21de8ab69b44abfc87f574170948da8b827f418d314df85e8ef', '3MbiB6Ky.gsIH3INEF4cyujNEbOL8c6Yw_ljdPdlJYYy1HPCuPTA', 'x9SjkRpPzxptl9_1-ys4pQ');
INSERT INTO public.audit_events VALUES (10, '2026-11-23 02:43:13.054', 'password.set', 'success', NULL, NULL, 'uZc6NQabFwWa-ruKrw0A7R79', NULL, NULL, NULL, NULL, '{"mustChange":false}', NULL, 'b1cfcf23bab6e8347a567d412732d90883c55a57d61d72dbc84d3cb49ad7ed20', 10, 'cda672dd160ded90eb1de041aa57fd030b7aa6d0c7916354f2ce5a6f7be8bb53', '3MbiB6Ky.d9VoCHwV5mZs6a6U8JSch43ccBDlJMZ2jqZweqvlx-A', 'yHs2y7SH--1W6G8F5m9OMQ');
INSERT INTO public.audit_events VALUES (11, '2026-11-23 02:43:22.92', 'application.created', 'success', NULL, NULL, NULL, 'shop', NULL, NULL, NULL, '{"name":"Shop","protocol":"oidc","source":"local","after":{"name":"Shop","consent":"implicit","access":"everyone","enabled":true,"source":"local","application_type":"web","redirect_uris":["http://127.0.0.1:4000/cb"],"post_logout_redirect_uris":[],"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"client_secret_basic","id_token_signed_response_alg":"RS256","subject_type":"public"}}', NULL, 'd7400dfa83f8af6b4725d54161c55fb8e6c48cfbb493fa858fb9d142ac372849', 11, 'b5a7758f05cb076e389faed19783971826df66a361c809b344980ffd29fe6029', '3MbiB6Ky.lC31-OKHvpKt6D9noa5oTwbdd3KEyM-a0W5j4LRFQ6w', 'QzW_odYR-ovMRJOpKybtsw');
INSERT INTO public.audit_events VALUES (21, '2026-11-23 02:43:43.974', 'key.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"kid":"hX9JnDmblPPqD91SZBEKI_02FllQ9Wy-SkiBhPrxCNU","use":"saml","alg":"RS256","state":"active","scheduled":true}', NULL, 'd1e8dd8e24feac2b742022234b0680307a370533695472b3076a8f189b19b03b', 21, '2b464f667827b4e0ec86717eb0a3ecfd76a89f7c8f36a04b6c2374affb56f6d0', '3MbiB6Ky.AC-G3aDLdjXRSVTxs55TjaoIMYUszw1wxl64K8qb8ME', 'K82JJyJUUGoZ4iLYQZqMVg');
INSERT INTO public.audit_events VALUES (22, '2026-11-23 02:43:44.018', 'key.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"kid":"BQQNmeqej-XgmOC7eMdUThcnw5QUH5RNRxbezA0E9rg","use":"saml-sp","alg":"RS256","state":"active","scheduled":true}', NULL, '3dd10d7c90a4f5aedcbb47a84f15b981f055fb6a0aa267521914e1336e541960', 22, 'd0f127f923ef841245d0b743b04ce8f80bd5bf24f933596c4978aca8b0ffc01f', '3MbiB6Ky.dpLF-PeSesV2G2FeXhAX2oKWTjM1rWGy6yt6mUOWtzo', 'xKUCygyv1Dm6WOcsqLW5bw');
INSERT INTO public.audit_events VALUES (12, '2026-11-23 02:43:31.884', 'application.created', 'success', NULL, NULL, NULL, 'https://wiki.example/metadata', NULL, NULL, NULL, '{"name":"Wiki","protocol":"saml","source":"local","after":{"name":"Wiki","consent":"implicit","access":"everyone","enabled":true,"source":"local","require_allow_create":false,"attributes":{},"sign":"assertion","encrypt_assertion":"auto","idp_initiated":false,"allow_sha1":false,"metadata_xml":"419 characters, SHA-256 ytC7carJEW9a3WTzoFrlUj65rLkTQAqLGuPQ2LnUdqM"}}', NULL, 'a29e0e835878c8590eabdfd461d736caaa1973813e3699ed5ec93bce06831bb3', 12, '7236347c08bbe7b07969eba976e363b2efd0005fe3a00cd53859fb640578e297', '3MbiB6Ky.vNngQQAfLi5BkBcNAZDvNEvSGnImHWSaJLs0t5nwrrE', 'Jh-plrgpygyPsnb_pcSl6g');
INSERT INTO public.audit_events VALUES (13, '2026-11-23 02:43:43.528', 'key.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"kid":"4PsXAlLfe898Ur104mhGbalqCg3Xa3Eg4OeiEWvPR8E","use":"oidc","alg":"RS256","state":"active","scheduled":true}', NULL, '7c83aa0ebdda541b8b8882a55399ea27325851fb0f36feb7cd525c42d4e500ff', 13, '2c7d199bcafcfe69ecfc95897b98bb5ed211e2e349e1b834753dd7425812b8ec', '3MbiB6Ky.TTg_ykNsD2DMm6yqx3wgQx_ZP7G6r5eB1qUCmndyHmY', 'efUyeT142QTU3lBV2ETbyA');
INSERT INTO public.audit_events VALUES (14, '2026-11-23 02:43:43.579', 'key.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"kid":"vRw0YuCywpONP8xJp2CgBl93ZphB7BdsnyE__5jWjMs","use":"oidc","alg":"RS256","state":"next","scheduled":true}', NULL, '1916c5507dac5c102c27159f11c2b9a79863e0cf533b21e782f7d58b7c42556e', 14, '2a4356ac142efa954a6236221c946117f17174ec2a9ff34b9a67d35f6f2c246c', '3MbiB6Ky.J8JVBfBxB0wvVBY9EozmcCocIHHsP5fpfc8CXe2y1Hg', 'M0rgCnZ8f6SpHJu1pW25Kg');
INSERT INTO public.audit_events VALUES (15, '2026-11-23 02:43:43.646', 'key.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"kid":"emJJCzMFlRuDbz1fdWE5UyL5jnyP8n8zsymvWi_0UTM","use":"oidc","alg":"PS256","state":"active","scheduled":true}', NULL, 'a32959ad85f71ef5363f0db5d019ec73a732859414f11fd457687edd3d6f55a3', 15, '7ad57394f6367ac95f6a11f489dbc61874f68ab5f103576854a93eb7ddd5011e', '3MbiB6Ky.6ycmHBv2qNQm_2QyaavYVAehvzWRGQvjOg4zbC5iLqE', 'nSMMVXDoeBRmHZnKCEHTNg');
INSERT INTO public.audit_events VALUES (16, '2026-11-23 02:43:43.69', 'key.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"kid":"KPLr4DG2nKTgqNdX8ZGIB-bcw1pFqTxRThJyrSgGKbc","use":"oidc","alg":"PS256","state":"next","scheduled":true}', NULL, 'fe40fa003e5f7af5b9fb868a37aab9a80caf2048a1f8f76a244ad1b4e9f81bc2', 16, '2ba31f0ceeb9584ded9acf117e143bcb770421db2c3e2cc9c0d2c120d451cd17', '3MbiB6Ky.cLhEadeUeMiqSFlL1wB0hQyBNc-NRkSnpNRc9raqu1I', '9UZ78xRfYhd01npy9UV2Zg');
INSERT INTO public.audit_events VALUES (17, '2026-11-23 02:43:43.739', 'key.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"kid":"JiV2Kur3WnJFuzGx8EnHAb8tTD_epxDjafB7BDhaqdE","use":"oidc","alg":"ES256","state":"active","scheduled":true}', NULL, 'f19ae0781d7732f984678ef47b58ad719380a133d9c9b215afd8e9e6957508f8', 17, 'b4f27f53114f8aaca575a7a5e10380d7ecd345984bd64ee0435df425096a1e08', '3MbiB6Ky.fslFu_A2KOUyNU1syfzZAHY564KxXNwIkyFO53Ik-sc', 'IK6YLCP_6hhEURfBW1s3wA');
INSERT INTO public.audit_events VALUES (18, '2026-11-23 02:43:43.786', 'key.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"kid":"MgafOt1YZgJ9QJAPoIBLc7Beu7KYdlrnAxPJVI81f1w","use":"oidc","alg":"ES256","state":"next","scheduled":true}', NULL, '272f14c1f218a8cf08227878d3853ff29cf348218d510e139075cf8811f51d3b', 18, 'a705b49841063a018e4026aa1a1fbd6926262692be9345ce7c6c6dcdc7afdbae', '3MbiB6Ky.DPH2cfxGwTXFb4xf13_hOyuVgAnLBlXxEoH4-_if1FQ', 'D0ukqgh7Ymjv0yUZDYMJCw');
INSERT INTO public.audit_events VALUES (19, '2026-11-23 02:43:43.82', 'key.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"kid":"gS3obaDbsxk_bogHnUxh-qIpRv9FpWQdv2r44nQSClA","use":"oidc","alg":"EdDSA","state":"active","scheduled":true}', NULL, '328db80c85ec52090f757c4143ac867a264faec577b98a87444ce67feffa7746', 19, '0415019044bcf6f07c390e7e7cbd2f0ea975821621fa08b492c757d0846c6199', '3MbiB6Ky.zmNcXazrMspCxvznI0z0aGZicXEd8-_YuR4KTnXCbEc', 'O_p4BVbjp29rGGB3oK2N2g');
INSERT INTO public.audit_events VALUES (20, '2026-11-23 02:43:43.919', 'key.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"kid":"PME37_VC5E0-446bgOIHtQatwSmneq8MFwCJaggptCY","use":"oidc","alg":"EdDSA","state":"next","scheduled":true}', NULL, '61e022bca841f5275c47605301d4bd5e4e917016f9739663e56782974dbd40e3', 20, 'ca63fc15727c3f42718aa2dbf9a2107d42f48a096a1c520d1352a5ffb739b716', '3MbiB6Ky.Mgqq7g-32wKfNqhf51j5cO2nsDrJjucnGmNMl8rOKgc', '2S1STcrhMlNmFvJDXkC3QA');
INSERT INTO public.audit_events VALUES (23, '2026-11-23 02:43:44.04', 'key.created', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"kid":"Xccg64fKYWEB_wagP3kRMFrDAxYL2TmSIni5uVi9r5E","use":"saml-sp-encryption","alg":"RSA-OAEP","state":"active","scheduled":true}', NULL, '8ac33fc5d1deb7b1e78b6d6e321495baccae8ccb8b8c894cbb738b7184206ed1', 23, 'cd586f72827763ee6d82dcf5de9b63bcb5aea3175fc23acbb11c78aaa3d1a94d', '3MbiB6Ky.n-lyH5z1Lr4halmT8ts7Tmkdys3xJYhdBrXAmDbU-k4', '_pabQWf0IDtNZJ9whO99bA');
INSERT INTO public.audit_events VALUES (24, '2026-11-23 02:43:45.864', 'server.started', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"node":"v20.20.2"}', NULL, '2312b502f8591817ca528f4dec46a03e3d1254cee66a615aefd64a230f55f6ce', 24, 'db550b51dd263e7d1215305a889ec2a8feb62ca7dcad9c93cdc78e0f488b0c8d', '3MbiB6Ky.Ul-61m3v1IcjoXH9LAthHu5NBbASnmBGp2DSrSsydhY', '4KqjbpiEvv3isngzRbwdwQ');
INSERT INTO public.audit_events VALUES (25, '2026-11-23 02:43:46.62', 'audit.verified', 'success', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"entries":0,"newest":0}', NULL, 'ffab5ee2f28aa93c9da9146cfc5d4c0077fa379404b1b71138eb96d95a24f731', 25, 'fb0176599a8b25548f33eadd06580cfc2325b1c047022c5bae9d02e3fa5e26e7', '3MbiB6Ky.l2_k68dRpATG2OyC9LhNMVMuDfkez1OlYppR-3JK0oc', 'ohcocPRUzZD05jNwNl5N8Q');

INSERT INTO public.client_secrets VALUES ('7piK-xn27RVl6aeUlrwDA2lW', 'Jk5qPmLGUr1NkdpqZoRMdz_x', '3MbiB6Ky.8c_jC8eOuOuTIdJDiBPm6Oa3mxF2Wb9HHHT1PKDua-Q', NULL, '2026-11-23 02:43:22.833', NULL, '3MbiB6Ky.NuFAILm_Xemnrz32i0iTkyNXlhC9nOu_yHx7-8-zcoc');

INSERT INTO public.data_keys VALUES ('3MbiB6Ky', 'mac', 1, 'v1.JvsG8psY.lGirOskRzjRIVUnwZfQTmMtL_JpMPB8fKoR35_b4E-JipX5SiQi_b3Wk62Tw8qZwf6uRnih0lO1dP2fW', '2026-11-23 02:42:55.967');
INSERT INTO public.data_keys VALUES ('ee-xG1F0', 'audit-checkpoint', 1, 'v1.JvsG8psY.xoiBdXSJr7cqKblM5vQRpew2QK6O1oUW8M2mBGlq1lX9s-DQAb7EiKu7qKNr_OYA5q6ofSmVG8oZ-ZkzZXT2_GNGIVt5H8fx-qQNUQ', '2026-11-23 02:42:55.967');

INSERT INTO public.job_locks VALUES ('audit-verify', '', '2026-11-24 00:19:46.006');
INSERT INTO public.job_locks VALUES ('abandoned-sign-outs', '', '2026-11-23 02:44:13.702');
INSERT INTO public.job_locks VALUES ('connection-domains', '', '2026-11-23 02:48:16.654');
INSERT INTO public.job_locks VALUES ('saml-certificates', '', '2026-11-24 00:19:46.909');
INSERT INTO public.job_locks VALUES ('keys', '', '2026-11-23 02:44:40.908');
INSERT INTO public.job_locks VALUES ('connection-ends', '', '2026-11-24 00:19:47.037');
INSERT INTO public.job_locks VALUES ('connection-documents', '', '2026-11-23 02:48:17.163');
INSERT INTO public.job_locks VALUES ('saml-metadata', '', '2026-11-23 03:37:47.018');
INSERT INTO public.job_locks VALUES ('audit-retention', '', '2026-11-23 03:37:47.163');
INSERT INTO public.job_locks VALUES ('sweep', '', '2026-11-23 02:44:40.953');
INSERT INTO public.job_locks VALUES ('mail', '', '2026-11-23 02:43:55.36');
INSERT INTO public.job_locks VALUES ('logout-deliveries', '', '2026-11-23 02:43:56.494');
INSERT INTO public.job_locks VALUES ('audit-chain', '', '2026-11-23 02:43:57.018');

INSERT INTO public.password_credentials VALUES ('_LAGCutAgxpvfGfVKselVqvj', '$argon2id$v=19$m=19456,p=1,t=2$+lJMM5vBRgPonNF1J31Gtw$CM9QD+JA5vmzAYnXHMP8M3JEq96VNzeIOD97G/Ergo4', false, true, '2026-11-23 02:43:01.533', '', '3MbiB6Ky.Wi8xm3-MsD57OVB2H8uwsmKwIKshCHrZcc-Q0gl19iw');
INSERT INTO public.password_credentials VALUES ('uZc6NQabFwWa-ruKrw0A7R79', '$argon2id$v=19$m=19456,p=1,t=2$SSjwUKMgaad6QiMObfNG2A$l005MvR47RbwKIwV2Cscz8MD2ZdGRl5n2tXGxoUjsqc', false, true, '2026-11-23 02:43:12.831', '', '3MbiB6Ky.31YjHrofrUF9jAz_GskguM1SPlnVFWqamhX7ku6oTv4');

INSERT INTO public.permissions VALUES ('bH4YXzysAW8GNfJwz-d30RO8', 'gatehouse.users', 'read');
INSERT INTO public.permissions VALUES ('pP5IU13PXnc90rsBANpzuy4Z', 'gatehouse.sessions', 'read');
INSERT INTO public.permissions VALUES ('OWhouCHONiHZCFQMu3A1QUzy', 'gatehouse.applications', 'read');
INSERT INTO public.permissions VALUES ('o56l_Abdn3vhl4xR41NbNSD5', 'gatehouse.connections', 'read');
INSERT INTO public.permissions VALUES ('KDRjLsokL2gYFqCxdzTa7up4', 'gatehouse.roles', 'read');
INSERT INTO public.permissions VALUES ('HguDP0NmShHkrUebAboRzxnl', 'gatehouse.keys', 'read');
INSERT INTO public.permissions VALUES ('q7iwq5TbrrVBhKy1vcUG1jHy', 'gatehouse.audit', 'read');
INSERT INTO public.permissions VALUES ('wbsn05dOpmo8YPqdLNXUBr64', 'gatehouse.settings', 'read');
INSERT INTO public.permissions VALUES ('rnckYrQTJvJxsLQEGe-YRSaT', 'gatehouse.mail', 'read');
INSERT INTO public.permissions VALUES ('he0YB3uFq3aPJV6l0t_FVfa4', 'gatehouse.users', 'write');
INSERT INTO public.permissions VALUES ('gvb49zhOyA9d8LufjF2bF8Ik', 'gatehouse.sessions', 'write');
INSERT INTO public.permissions VALUES ('9YpHdLdtUemqmz3nv7cqr-7v', 'gatehouse.applications', 'write');
INSERT INTO public.permissions VALUES ('SBWCyM-TunPOYuF8ALDVg4oJ', 'gatehouse.connections', 'write');
INSERT INTO public.permissions VALUES ('gnq81hE6EnOg57u26dYmo3rX', 'gatehouse.roles', 'write');
INSERT INTO public.permissions VALUES ('38OC8bCAs6Ym4JVycPWiboN0', 'gatehouse.keys', 'write');
INSERT INTO public.permissions VALUES ('wD2gLsJmONyet4na151LfNCS', 'gatehouse.audit', 'write');
INSERT INTO public.permissions VALUES ('EchpXdJUsR27AKinIM1aunnq', 'gatehouse.settings', 'write');
INSERT INTO public.permissions VALUES ('XTnvmsEFdnSxv1HUoHtp46SG', 'gatehouse.mail', 'write');
INSERT INTO public.permissions VALUES ('OO1n2Yu8D964s7rdtepsCRgz', 'gatehouse.users', 'unlock');
INSERT INTO public.permissions VALUES ('cEmsko63bAV_C0VjnWNQ0HLx', 'gatehouse.users', 'reset-factors');
INSERT INTO public.permissions VALUES ('z8QfFAQuYlCeCiOFY_VD3dVB', 'gatehouse.users', 'reset-password');
INSERT INTO public.permissions VALUES ('BO4kxKE0j9S-iq5YP0Cx674n', 'gatehouse.sessions', 'end');
INSERT INTO public.permissions VALUES ('t9l5zko8MNmt0yVyxvzIjXY9', 'gatehouse.roles', 'manage');
INSERT INTO public.permissions VALUES ('pLZcA1gNiJ6moVDxN8CsZHnK', 'gatehouse.settings', 'write-security');

INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'bH4YXzysAW8GNfJwz-d30RO8');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'pP5IU13PXnc90rsBANpzuy4Z');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'OWhouCHONiHZCFQMu3A1QUzy');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'o56l_Abdn3vhl4xR41NbNSD5');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'KDRjLsokL2gYFqCxdzTa7up4');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'HguDP0NmShHkrUebAboRzxnl');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'q7iwq5TbrrVBhKy1vcUG1jHy');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'wbsn05dOpmo8YPqdLNXUBr64');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'rnckYrQTJvJxsLQEGe-YRSaT');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'he0YB3uFq3aPJV6l0t_FVfa4');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'gvb49zhOyA9d8LufjF2bF8Ik');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', '9YpHdLdtUemqmz3nv7cqr-7v');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'SBWCyM-TunPOYuF8ALDVg4oJ');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'gnq81hE6EnOg57u26dYmo3rX');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', '38OC8bCAs6Ym4JVycPWiboN0');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'wD2gLsJmONyet4na151LfNCS');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'EchpXdJUsR27AKinIM1aunnq');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'XTnvmsEFdnSxv1HUoHtp46SG');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'OO1n2Yu8D964s7rdtepsCRgz');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'cEmsko63bAV_C0VjnWNQ0HLx');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'z8QfFAQuYlCeCiOFY_VD3dVB');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'BO4kxKE0j9S-iq5YP0Cx674n');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 't9l5zko8MNmt0yVyxvzIjXY9');
INSERT INTO public.role_permissions VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'pLZcA1gNiJ6moVDxN8CsZHnK');
INSERT INTO public.role_permissions VALUES ('N4j-rgIAEsO5xegMSDQMhu0m', 'he0YB3uFq3aPJV6l0t_FVfa4');
INSERT INTO public.role_permissions VALUES ('N4j-rgIAEsO5xegMSDQMhu0m', 'KDRjLsokL2gYFqCxdzTa7up4');
INSERT INTO public.role_permissions VALUES ('N4j-rgIAEsO5xegMSDQMhu0m', 'bH4YXzysAW8GNfJwz-d30RO8');
INSERT INTO public.role_permissions VALUES ('N4j-rgIAEsO5xegMSDQMhu0m', 'OO1n2Yu8D964s7rdtepsCRgz');
INSERT INTO public.role_permissions VALUES ('N4j-rgIAEsO5xegMSDQMhu0m', 'cEmsko63bAV_C0VjnWNQ0HLx');
INSERT INTO public.role_permissions VALUES ('N4j-rgIAEsO5xegMSDQMhu0m', 'z8QfFAQuYlCeCiOFY_VD3dVB');
INSERT INTO public.role_permissions VALUES ('N4j-rgIAEsO5xegMSDQMhu0m', 'pP5IU13PXnc90rsBANpzuy4Z');
INSERT INTO public.role_permissions VALUES ('N4j-rgIAEsO5xegMSDQMhu0m', 'BO4kxKE0j9S-iq5YP0Cx674n');
INSERT INTO public.role_permissions VALUES ('vsm6MKrIaSrj0oXjHcCAMJ5Z', 'OWhouCHONiHZCFQMu3A1QUzy');
INSERT INTO public.role_permissions VALUES ('vsm6MKrIaSrj0oXjHcCAMJ5Z', '9YpHdLdtUemqmz3nv7cqr-7v');
INSERT INTO public.role_permissions VALUES ('vsm6MKrIaSrj0oXjHcCAMJ5Z', 'KDRjLsokL2gYFqCxdzTa7up4');
INSERT INTO public.role_permissions VALUES ('EoRC-_QL6fnB2WfhzTZaDX7_', 'bH4YXzysAW8GNfJwz-d30RO8');
INSERT INTO public.role_permissions VALUES ('EoRC-_QL6fnB2WfhzTZaDX7_', 'pP5IU13PXnc90rsBANpzuy4Z');
INSERT INTO public.role_permissions VALUES ('EoRC-_QL6fnB2WfhzTZaDX7_', 'OWhouCHONiHZCFQMu3A1QUzy');
INSERT INTO public.role_permissions VALUES ('EoRC-_QL6fnB2WfhzTZaDX7_', 'o56l_Abdn3vhl4xR41NbNSD5');
INSERT INTO public.role_permissions VALUES ('EoRC-_QL6fnB2WfhzTZaDX7_', 'KDRjLsokL2gYFqCxdzTa7up4');
INSERT INTO public.role_permissions VALUES ('EoRC-_QL6fnB2WfhzTZaDX7_', 'HguDP0NmShHkrUebAboRzxnl');
INSERT INTO public.role_permissions VALUES ('EoRC-_QL6fnB2WfhzTZaDX7_', 'q7iwq5TbrrVBhKy1vcUG1jHy');
INSERT INTO public.role_permissions VALUES ('EoRC-_QL6fnB2WfhzTZaDX7_', 'wbsn05dOpmo8YPqdLNXUBr64');
INSERT INTO public.role_permissions VALUES ('EoRC-_QL6fnB2WfhzTZaDX7_', 'rnckYrQTJvJxsLQEGe-YRSaT');
INSERT INTO public.role_permissions VALUES ('Yoiyey5TlYVNqSDQeVfO7v38', 'bH4YXzysAW8GNfJwz-d30RO8');
INSERT INTO public.role_permissions VALUES ('Yoiyey5TlYVNqSDQeVfO7v38', 'OO1n2Yu8D964s7rdtepsCRgz');
INSERT INTO public.role_permissions VALUES ('Yoiyey5TlYVNqSDQeVfO7v38', 'cEmsko63bAV_C0VjnWNQ0HLx');
INSERT INTO public.role_permissions VALUES ('Yoiyey5TlYVNqSDQeVfO7v38', 'z8QfFAQuYlCeCiOFY_VD3dVB');
INSERT INTO public.role_permissions VALUES ('Yoiyey5TlYVNqSDQeVfO7v38', 'pP5IU13PXnc90rsBANpzuy4Z');
INSERT INTO public.role_permissions VALUES ('Yoiyey5TlYVNqSDQeVfO7v38', 'BO4kxKE0j9S-iq5YP0Cx674n');
INSERT INTO public.role_permissions VALUES ('Yoiyey5TlYVNqSDQeVfO7v38', 'q7iwq5TbrrVBhKy1vcUG1jHy');

INSERT INTO public.roles VALUES ('kC6_SySoLKNniAcFsQzMiBQp', 'admin', 'May do everything in Gatehouse', 'built-in', '2026-11-23 02:42:56.797', '3MbiB6Ky.f0exoriGByyJOzcWYzh7rW9B0nni1VxHJPHvPlhYiR0');
INSERT INTO public.roles VALUES ('N4j-rgIAEsO5xegMSDQMhu0m', 'user-manager', 'May create, change and delete users who have no more rights and no other roles', 'built-in', '2026-11-23 02:42:58.274', '3MbiB6Ky.0gBwTQeroN4wC1Uc21gDBEdmRYQAoA5lj59PeuH1P3w');
INSERT INTO public.roles VALUES ('vsm6MKrIaSrj0oXjHcCAMJ5Z', 'application-manager', 'May register, change and delete applications', 'built-in', '2026-11-23 02:42:58.841', '3MbiB6Ky.xevdSBVoKdjhoIvtO3Pebwigq0EFYSEkcVRkB0BKe5M');
INSERT INTO public.roles VALUES ('EoRC-_QL6fnB2WfhzTZaDX7_', 'auditor', 'May look at everything in Gatehouse and change nothing', 'built-in', '2026-11-23 02:42:59.119', '3MbiB6Ky.CHEl3L9E6NEFq3epZ1DJQ00lcdDZGHiRqhiLa9q0tNg');
INSERT INTO public.roles VALUES ('Yoiyey5TlYVNqSDQeVfO7v38', 'support', 'May help people who cannot get in: unlock, reset factors and passwords, end sessions', 'built-in', '2026-11-23 02:42:59.578', '3MbiB6Ky.logLB9y5XyW5QF2RtXH066b550o78p4kqDGMv-fSGjU');

INSERT INTO public.settings VALUES ('secret.pairwise', '"v1.JvsG8psY.8OWDHafBWp37jljjcxPOQwt9uoW5at0sEvk6AXVCdl11nD0iyjXp7qY1JUy51e4dUVPmXRGqpq4BpDnLIFJin8Q0c55GQ3Y"', 'secret', '2026-11-23 02:43:44.616', '');

INSERT INTO public.signing_keys VALUES ('4PsXAlLfe898Ur104mhGbalqCg3Xa3Eg4OeiEWvPR8E', 'oidc', 'RS256', '{"kty":"RSA","n":"t1TjEzdM0yUlBxyq5v6F4O5RQkcIb9c35YzMIW507gmhFyAkjmupjxGVHqpjFL1vfWwXbm3ERUbou7PIyBNde12gHj2oU3j7mkt3bgT6XwLPeW8xHvP4AGW8E6CAQAntYkm2zcbzJDf69JaWCHBUENpLAqsSHYfIQAE7qLfQ0ftXHV3rk4iZovTDYaZ4W8B2xeumupOuoqRE0hywrhLyRIlHbAaqNg5dd6pXdNOxnIk0WgK3xKHRkYdASPTd-sSchcMOBXhLajO8WVWtpSWWFYHLK6Tts-muPlVNCMXZcyYEuG2V0jTlWeAm3cLl6Kj1LGn-Mv8UcZwlpnMfPHSo6w","e":"AQAB","kid":"4PsXAlLfe898Ur104mhGbalqCg3Xa3Eg4OeiEWvPR8E","alg":"RS256","use":"sig"}', 'v1.JvsG8psY.L1p66yBChLYL5Z8vLcEOocXnh1gnf7l57Z_f8X4kwyGXH9h3NXjr1GSwLyMS0PQS82jhvfvcD4puALeZjpFK0sHpdFxqkV2w1COMhha8PYMRsZRdncIopFNJiXViAIDgEQuie_UnAvO_-bRb-E1Xp0wqOwIhLpRxY_IBdx6Op6gd1X6CKURS3c7P3fUYIc9OZ2-UeYqL8uI9WwKEqIzGIonyCH9upx1i4aSznCN1b6u9hZpaI-t4CMwWHt91A2mdwgnW1_5eK7Y65vvSTGhb1jjcQqik4cv_ZIjVgXQ314NIuFQ-9-0oUQYQxE3iQiBPHdEsKx3DVK-wcP3SIXKs189diPt7bw2tVLZB1IxRJahOqspXdW7QgaHqzHUN70XUbmeHhjfHSj4rJFfwrmTaA6t7on29cnTROxVTOzU1rgzoX5Vs4mRMNPXA7e_IYyw_TGNotBxQTgaWOE4IVNKlS70yQkNj6wRhB-HxUX61GG9KmrCkWQsO_NlZaoXrXxdOrt1OXF_xdX5d1rpUDFaWtd438I3RgbUPCkAA49Vh9mHu7k_r_GNWNc2ktWAEHtc2jZ3feHMNB3Yqyg5-aqibADoMzuXx0KT7ID08-XJZEtUbVvsElowHrXjpiqTRZCQkexFG48Jnd4hS5v4vEt-X01MZsjuZAT8VQEUDiFx1ohHIGADPqBnrU9ikteZjGREL6N0Q3Sf-g9oLKlV6mubSWyZUYAPZ56lBHANkP1Ty5IZ8N6kJRkpVfiK7qSVyfED_vFVtkzYxvaZhgolfq-uSc8NraUqzLjr--YJl1obMKocE9yFHAx_-SmzQkrc7q0AWZjPzT97o3zZAssuIDyzFi2BlG-MAptZZSr9IziFqJFVbWhUzfXJM3krt_vL9V3dYamv2Wi4PTSaqvnEFXndSzsrZQRkUHu5qk2WliRzAdFgNDOQQuyYOIEcednd-n0RSGlfXVPhVadxsLElt6cLbo7NU7kqUUa3xisK3I9uQCOfGl6gi3bh8QT3qwW3ge8gaoEesC90cjq4Hdn0mdhtS1hm8p0tGfBak6UDjr6h9QG4RWKBELkoiSZnp1PS6c-itZwNK6toAu7Ex5UiKs9R3JdMuGhpVknr3ZM8pG82Tk3lUEhH0TKYccT6xDvlMbk6_Cumr2ChdH-RaWFIb_1oM56wpbDQm7H6Blov5Ly54uTlh1W2_ilR5GiLaMhheoqNHnqTqnsdU_LsXD0GWJEGocwf-Ond4PNk2dyDQpDlMjwYs5qIM18mEEuebnLxwvKMRBhwoinA9M1vwO3U-NELunPcOVhoGw2vnqf2PImv4mS86kfEfVMKhzvkAbguiihZxOWFXZdJPU2--PeJ_8TCooAz791m70zsjy3jrPOaMpze0S0pm19elNLxL6hxGlHfjFG09QV1xWia_v7tbiKIIqT_GQBtQPgKKEkq-CO7uPUwDG51GX81rCxlpo_38ccC0k0Pn8NUAHfJCulpRXFaM2SHJ0D-e3Eyp0iDERplr-C8ncvY3H7n2yhl5lTZhs0cCM063icVtRKxYJdk3xR5ytknLcHIRDFo52J5pDYcEFVLjoeCu2dazZKoQjZOGk73NUSla_Zn7jPZnTPMqQk2IfVlhx_qe0BrzPCPutfmSAUAFLejI9Je7cNZCTAE4', NULL, 'active', '2026-11-23 02:43:41.281', '2026-11-23 02:43:41.281', NULL, NULL);
INSERT INTO public.signing_keys VALUES ('vRw0YuCywpONP8xJp2CgBl93ZphB7BdsnyE__5jWjMs', 'oidc', 'RS256', '{"kty":"RSA","n":"r_D1UF7tOyVM0sF-easTiEI4PpHtBvGYWg_NaI6IEJ4YNUXibyrjGwTNkOetVyiq40OTAIBPybrqddyqI7tu4gwyGWgdAbvuztK6-EzJOAaunBLINT8UltNTlGNIRlY8mQPqjdToRTAktfh9CVw309MAc5RgYehDqFrXDFCOvgsp4rgqBtrcrFwd7sB46VA8eH_ibEcBAqltdGjCqRv1Wv8BVhSNRPOdsYKTiX4jjG-6I17avhS3SQwUcGw3KK6i4ywSwlLu7rPkZtKQiBAUEaEhnyuRHEOKp3TA2ZkbV4UimAGUL-vHYJ_r7pvt1svUxWCKfc-aqJP9lSk--N4Xiw","e":"AQAB","kid":"vRw0YuCywpONP8xJp2CgBl93ZphB7BdsnyE__5jWjMs","alg":"RS256","use":"sig"}', 'v1.JvsG8psY.q0Y5DrRPH3Wa0usCYrAmZ2EeAjlx8x00lDI62uLEQG39LIrGHNjdmW2JOBER53tOXP0MXwwPPi1oTsQLvoIequwT6jF5l0ICgJhoOC6X-fsVzTb32SxfEe1Gd8JnV2ScPziyzWM1jOkgL6x30WW-jgDBr57sBmj7-KmPnDN4bnN6ipLuhNEQoJmvoUkwQI2EdO5htDIgeo4iP9-n3-mD8b5UUd7rd95RNg96G8DVkrkcIHCELf_aM00-TvU2cyx_DaOLhmK6OoN5fM0SVG88lwFD6K6YFOOeg-5LUVYt7WBajJNBqqL_1U7KpA7FfNDodtIb7nzvB8rmJg8Om2bF7jkOC4X9fgJvmRSJE_sDYpCCymD-q9DzIZUBN8LRmWvSJqBzH1bkCrW_iQvTGYDA4TwxwtQ002GttjKn583CH9PbX1gIQer0HmioejzHsPbeUy0poXfKEsCOBXRAyjX29bjc4mhtRcv456drSKDL4hDnMF-Pi1WwgYrHxgwZ752myqZkji326LqDNWlK9jj8itH0Fe64JpjHdXl_8xjPajm_yxdtdL7tsWROLKS0D-VSMpx7RItLKZWfncNgnxCwh9O9_1CK2uWHeUT0TrN2p0kTGiu66lGydTFyo3dNBUMlN3zbiE5RWi1IF_A-TXqh8CIAanVUrk0JE7bNKUeH-hN9p_FX-dYfsSSRjsL3TMu620tM97e_4fROZ4J47t1-wCIvhYH3dW566sY4hwP7T6uYcR55y4pax3_NEnJ605u16d26UPk_wmFIhyAf6M8VxbvHXJzTFoa-pgOg7bqcboHs0Yp5yJjYf25eH8SExygGQUJWy8-P4pmuOJ8KlrieccLoGg1UkeGCxtdFEmgRfyyqCwtJuoNaLxIOi553x9GOMu9a5nfsx2kh0MHFkikQHMMM5NBqyP0wNSeq1s-l8g_pHp3fMQxVC0PzDNu2_zvFnr19RcRoOXcxZ8JbpsRtybH5wJJ92MdC-sfIQ3Dq6Br94CFPZ2MkGej6jcqAn-Gk1BKuNmsVDk2NF_4xqqLeJFReHuLeInAniiUeG21O-zsVvPAlxEJm-MoKfMe-HA8IRO2Lkhu2I8xHDQz9I430umsYCE5BVIH5qJwKUO6zDIJAmj5Emu565FVQmu0e8ZRqdKAFzF6E4SuRj1bCycE5EA6uBjm-iJD_lvptkVbR6T6zUf6mtyDsVJ-84FE-89SbTb4wh9rmaNQlSAE0guE7sIe-aTyfoyPvNLgMiD-8nSpKnxAdXnBVac3wYexNaaLHVyohljELmZBZtxiY2wPdCIhNfma6TfdOp2syzI77lfINSEuApiV5HhPTBYDqYoMhXsR7qZPLUPTnIlAgKiqjHlbn5MUvB07R3e1nLT56UO6HVYegWbUTFNZm3m5kP15r7za3tWAO-unPzwV7c9sp0e0zgu8xlTu_loR3i3jjZpRKgWkzS5B6pOqptFmdqp3fD8Rta6XaZEhS3QYqmQMKWCB-wMgFfsxR0zuk60_s6DNCWxyQ3EB0LvVji9Hp6tJVucaVzdIjBDXAPDCFV8S8sv_36Kwf1yFYxeITLDceWVlrf9XeXCJjiVw5QXKoaBR_67cCQfCvwlZFbAvcrm_5jVGelt5gBM2Wn4AD8dT1rcK9OeEBB3vPt0HOkuQ', NULL, 'next', '2026-11-23 02:43:40.367', NULL, NULL, NULL);
INSERT INTO public.signing_keys VALUES ('emJJCzMFlRuDbz1fdWE5UyL5jnyP8n8zsymvWi_0UTM', 'oidc', 'PS256', '{"kty":"RSA","n":"nLuzjYKaNJrzLe1CGkv-u4N8jCoUVogthItYT1Qvy2_nku0t9XHhq5uVjHUZQM6ie3aOiXvMA4SMkYOo5zpp_mrLNb08---W8PINHwHQxV2lditu6r0fpUB2yw3SNS-YUZHE5fiJeipqCHbhs3kuISPcg97CYc2tndr-_GV8HzeQxEX-GSfeTQUBQiqqPKW61zQHf-O_LLdjY88DfhB9KzpHVhz-0w7UVb1203GP2a1qtmKeBU23X7AzrBKdjeSbb-as_CRAXBU4EmHo_sKrFFqwUqcA7gGIpQcqx_yclQFtWnpMtfTd4RW_5heHPfiQNnK-WL_mvULbuM_LgdN1zQ","e":"AQAB","kid":"emJJCzMFlRuDbz1fdWE5UyL5jnyP8n8zsymvWi_0UTM","alg":"PS256","use":"sig"}', 'v1.JvsG8psY.4nLav4eooZtYIT46FJobbBs10ycsrG4xpCBKAiJtLwGmTdkz-wiSefnUAkI60qfl04R4gTFCstMasI5_sUvB71jpxuUX7Fx57zKMmeHgCXnm3TTJeWmUHBE7EJqJwLfEJjFT6Yuyph_20huF4lxbh8u2Ay-Spx0SwfakYtuBzx_FDB_93MAc7H7Y_PUtDfEClV5N8ZZ9MpYnyotXp7D5xniYJPUn1kqSZ_LRYHG3gdf8LzARZV0-WSHGX2zI2-xwTq3z1JIkDzMR2q0tQL0tslH6M2zeH6UPHT5-aPPpzNcx0MbeHQawKj-0_1jWyUEXR1dfBe6UB7tWOOvBCOJoPEtUqr3Fv-cVg1li9jw48FF2oz2NnKldZepR2pRiIIuIWWEfsxe_lxGowb7Qj_d6Kf72kajqkoW8dW46NiMxGbfa9evxz69h6_2WhI5Lb-4kdPcphG2l1ytLk523xcjRJ5NNVNZrMdM7qLVKNu4kG8ty7ubMda8X7m5N4clme8_V_dahwmnWaeyN4gYYxbGSg7Daan3dVaK4nNGBfvaAUb-iubkaStmyYEYZkHGD9kZEoIMkFmar2dWFGDKMFfKH1bbunSwRC7etBqdB66MXTsT0RH7GTM4nNl2Xbi_7EoQ039uLhJ7umpl9yigHdd2bgCzI6_xJ8LIKadqO-0N9M68l_bPHpwONMd3lsfITQ3tP5EMpD9xyz_OEi_x2BxULvAyu7NGvoNQ1Br5xzz3B8WM-BFmj6uKtTtk92CT92L4FwYvMKGNrnpIqLssXeSR3gyXX_rO40HlBhCkzD3HafB65Zk_WTDMMZ77FFgHJwRIAuhEzJXazETmLqSUgvLY5zgdK6tIllaFLKrXJxY-7kPrf9lMZ0De2ffmsPGfgXrroaYEQv0AnGJRQOE-6ZXxDKBWCBE_yf7k5p8li6TkKHdoFFDDHYVTml3jiRC39oN_8uxZsFbt02HOeTQnVhVQCM1WezCidHXJd20V_zsvHe5ydyzbI5ULUDUJJvyUV4v2Wug631w9eqGdjE0QTNki2ffKPt419jCK6rsjj3DltDIt4pyKvRdB0FmhftsTBsi_g-FEHAdzmA5aORZeoQg8Uy3hiuzm1xAUoHnDC3DI7Puyedwi3l4lXHGYdM7EvLZEuPTnE7fz-7ceCvgHv9DAR2TUy8PjgVGP0E4RlbZAvfgbcE2IobKxwnqaHYHhloa7F4PvSM-LNCdyBzEAbfo5y_GUHj5iFu49l_L2inOmFLnMjz8dJLPPP7cPMKk9UiqW77gQVXLn26ewexlFg1K7K5MWwVYXJRBu3udMRd7boF2vDXkXeSP5gX_2QtVnCcgmQmdb7sGgxjluZUdf_EZT08xIO5J9FJ-aMia3nEsKNWqridXUDm8710IWkhfvA51GEX9FD1de2qFssPmtmLRAA6yx72OnRuGhOOWEfy6VaP7pNukD7GR2B0j-I6KH0eUKeWuQvwmpnpba1A7N4IxkCEmYW1ITb3ehXew6uIlIe_8raOOvVlG8A_CdFa5rO1ZB81Uby9taqZDltbaUboEVszjds56EfyT5ixxmQ_Y52B8SVYV6Zu3p7Mq1aLd1tocYrwZF9trDMqFFYpWxDMMZDNuik86rO6iYbrtiWw5TQ9XvzAHW3wET-Hlp3meRQ', NULL, 'active', '2026-11-23 02:43:43.422', '2026-11-23 02:43:43.422', NULL, NULL);
INSERT INTO public.signing_keys VALUES ('KPLr4DG2nKTgqNdX8ZGIB-bcw1pFqTxRThJyrSgGKbc', 'oidc', 'PS256', '{"kty":"RSA","n":"xu06DwV9OsPJCwOEfDybIrn2q1E4mPrRTQcbILmBmKlb9OaGvXZbyDpClH38a5dtCXYTMH6omwuvSZInsGiX0sCAuSvsyyy1J4LzccFt1Ai_KyQUPLjxuUrHxGUzKoZJZ2r8HBuofkiqAKLZHPPqPtdTqsFrch-p0AmsCVFnVhjnvaJRzaxe1LZpHa7bJaEvJqSsF6vKRdlxyEze3PiVRDKs9gw-KYKZY0T0nk14nuJx665NQs8uLwDldAOh3Bm3TjRu-RoE1IQoB3x14LxjROgbWMQt120p-f0K-yA3e4bNDj4PsyCif2GCdbryQe42iwjuYm8-vTtnHj5023latw","e":"AQAB","kid":"KPLr4DG2nKTgqNdX8ZGIB-bcw1pFqTxRThJyrSgGKbc","alg":"PS256","use":"sig"}', 'v1.JvsG8psY.CemP5MBzdrjJbG6l6a-K4kj3Dtaq1s4dDFbuj9qANEGtbcD2DiASyx_Lc9BCJk_FRwNHaw7JqoFZOH-kYwsFRseedugQB3UDOi4R1IRN8uJ0k8QlDWhLSD5FtjqzKLqXvDd02Co_ymu7D_P4wZOHmvr8L6sFu1mh_GCAjeK6kb-fVVqAWoOQWtBhIa2RBsKn-yBPXt55YriMXf5w77O1bHTgHoV2lw5y6tHpgV76vjXB0OzT-9tZBLQSuL2DsIExA8wLmQD4c-qTdfDWa6sC4juMR2kEKC-LROCuXy9er6lixG9OytHy3fIwKDLtdshom8EcVkkigR8E0LKPb4pjuIczQW33_PeQ-4qTgSvk6m_CR_2zBJiCLCfDLhvUhE6eeMoRSzcGaJ50bz4AwMWFTUgJTZ4UjY_RCeorZtNss_c0h2WylmN6I2x8UsHp6SnOqNq_9n5L6j1hWYBGqSKGy8m6isCY8SV6JGfgyRTEElOKC-C-lACiYouITfFVGqWYMrAzcd99YHFjoDD_XEcX_vOA73Ik1eGTNuwbtdhQAzdQ6Wz48-cpocGUjZFsPVu-mS2LXwreZq52LELJ_dMoIfgMhe3hTvqZ_jLqZnm16cb-47csqe9UPxgpgfhikfs16m3i-eahVwJ6giyZWfzjIEQcFJd9IptMTxaS8CfVhR_lZpplNKftUlKuwl42G_m7wT6pRJrEKHZqj711boqG6ugua5vxEGjulMP7Vu_D8Wz6qCcfSwFWoEQRoyfc38DpCNJdOWSmcVFa5mP2V_p3LmymhXOXJVpU34mUtXli_pdd_BqDmvF_ZvKGW2uk7fJmz1WQIXLgMXfkZNedAITXOs3GBz75s9gVLOsqvDoo-R9qmXXanpAX_lGr68cg2ep3oKB623KDGxW4kWy3s4qhubXyEoOpiE_InUuICAvwqPMaUJCKtx7YSjZXI4rPhUINVbhWiLw35kQZ8ncnTkTarp8u5SzgAXFIHV865idTlFivYUJTE92DPGA-0BTNM1HZkfFbg71VOE9bNYGVAynYYdCZT3yGDRJuSl80zymif8vlf2411_-YvwEsXZMvF5Ol0UA3YVLsSMB4GYArcOs5BbwjGBTL6a2CKGjksjPxpfl0vFwZ1KF4KXOkr6rQPdQCA3CFGOCRNWFUshQrxFUatbJPPR5NAz6GHh_OCcqSsCD4kyx3294XWd0S9hm2gJB8qh11EAOE4kpoAK_OIrAQ9AjC3Z9sNUTJyULebphZmDnOD86Y_hvjIfPbJxlk-9ZQbwwl1K3L4_AL8iHw2Lf-JNvIlAcQNTxGXjlawf1UBEXJDNC1CbT_MMV2OcLk2Wf772apwKVezP5804-m_YC02VkzP3PXSM2GkVfyVAcWpA9EM18QWkr2DLhsgOuTzDJZ_2L5_TmClczuHk_5U0fLrH335FRoI4Eh_eNdVrjUCjOuTr91TdwR6zAuy6zdVvfyJDHR9nGGST4nUVNrTfUpBBlMmuQ93noUsajZuqzpzbffD0zaiIF3AiENuID1IbW-L9RAlwTkXn594MGKs4oZxboUHPh3warJAxeH5gfcPaW1Kowwq2X3kCPKFr2-WwQ28XK8_5ijZm8mUH-NbcKiAi8jAl00mehqQsNej7rJJcCfvLZt-Z93Yn8LRZP-', NULL, 'next', '2026-11-23 02:43:41.772', NULL, NULL, NULL);
INSERT INTO public.signing_keys VALUES ('JiV2Kur3WnJFuzGx8EnHAb8tTD_epxDjafB7BDhaqdE', 'oidc', 'ES256', '{"kty":"EC","x":"Wm-IMXM4fmL6FeZwVJqP5iEVvSInm3myyHXg-KHuIXM","y":"3ZbhLpGjJ2qlJgDQbJxQ-47coQ0ow1zi0VmbWxXvKWo","crv":"P-256","kid":"JiV2Kur3WnJFuzGx8EnHAb8tTD_epxDjafB7BDhaqdE","alg":"ES256","use":"sig"}', 'v1.JvsG8psY.Bf1KQj-JD0EK8UqN67L-dAij9pv4Q2SzAbVi01rmyfIK6NBxgbNgrZWlc4T0EJ0gAAgalIjVHrrDcRu8jsz1gNuLXTpTwBgVTUli9vgWUx-Yo-8fit6SaJZxO-cvW5uqgdbyw8kUjZUgNDrIYBCrHgtG7Gs1AC_zvfmHHlWptIfv8r-ChiMQSsAiYnrKTKoMkElOMtVFcflfMOV-PrzwFKONd5VReQ', NULL, 'active', '2026-11-23 02:43:40.374', '2026-11-23 02:43:40.374', NULL, NULL);
INSERT INTO public.signing_keys VALUES ('MgafOt1YZgJ9QJAPoIBLc7Beu7KYdlrnAxPJVI81f1w', 'oidc', 'ES256', '{"kty":"EC","x":"Is31O6lk74jJCRTQptlaQtPH8lVLELuMt8PLgTIpn7g","y":"Olf0jpINOXAvt9diX-ZBT76dLhrqA19RgYzLqQjiBZo","crv":"P-256","kid":"MgafOt1YZgJ9QJAPoIBLc7Beu7KYdlrnAxPJVI81f1w","alg":"ES256","use":"sig"}', 'v1.JvsG8psY.1WIRF92ajnPAYAvzJB4jkj8CJYVkUmS-RQTB7lHQ6s6dEsw4l-C9Qv3sspTkKbJfQwtlrYAJ2T3JnJ3QLmamfmDBkqRxE0ZpZilAHn1DbwgHdDzsUv5p4RzqJvz17vuqTd135PaOosf6lTki0pxd_F6grqZIUSwV4TTYfb-n41NtJ84nR077wSHnuiIcNvgWx4_pWCr6B3BfWZPAxLC0mC-kL71ILQ', NULL, 'next', '2026-11-23 02:43:40.375', NULL, NULL, NULL);
INSERT INTO public.signing_keys VALUES ('gS3obaDbsxk_bogHnUxh-qIpRv9FpWQdv2r44nQSClA', 'oidc', 'EdDSA', '{"crv":"Ed25519","x":"luMyksmMWPIhDeapoXWgTeStRb_6emWbGpfZ0AzGf_M","kty":"OKP","kid":"gS3obaDbsxk_bogHnUxh-qIpRv9FpWQdv2r44nQSClA","alg":"EdDSA","use":"sig"}', 'v1.JvsG8psY.BhmgtXKrm_FeQYIYK1rxH5aWg82KtoUtQ2jLU3i7LqOPUSIe_l7CG1_04jbZyJ1F6hIxiRcBB94Zcf3279kxN41IMM1G7d6trA8hyw', NULL, 'active', '2026-11-23 02:43:40.394', '2026-11-23 02:43:40.394', NULL, NULL);
INSERT INTO public.signing_keys VALUES ('PME37_VC5E0-446bgOIHtQatwSmneq8MFwCJaggptCY', 'oidc', 'EdDSA', '{"crv":"Ed25519","x":"AIhpHVY7Yyl82pPqDCKHvvitZrYzM9nT7gFvOWreXpE","kty":"OKP","kid":"PME37_VC5E0-446bgOIHtQatwSmneq8MFwCJaggptCY","alg":"EdDSA","use":"sig"}', 'v1.JvsG8psY.OQm7q0qEQUOXied0wFzJCjTHwPen_FK-f0Q1Wo9I6aMsV8GmeteemW0zJ5uL5IEGbhqcmi1-6JLEvdg1-EuooC93hyvCPPzPlKqGkw', NULL, 'next', '2026-11-23 02:43:40.394', NULL, NULL, NULL);
INSERT INTO public.signing_keys VALUES ('hX9JnDmblPPqD91SZBEKI_02FllQ9Wy-SkiBhPrxCNU', 'saml', 'RS256', '{"kty":"RSA","n":"-fyMqNYyLmLIRHZdxy63VRstgd-f2RZVK8LW7-iSq_XHHewVEfgd5lC6fVrhdb-aRmqTz5DGTGIIGy_51-pKJykyCiTqvTbjcj0qNsBHPCvsxYb7jodoG0IORhlGMzQ994rIKm-btJ9yNe9mXc8Z4b4zLtUuN9Ken-y9ldtuhZdzwIIuIzIYSO3n2waQhQxM2_IVU08YkJbUAKvzcZrM8MdpvUHOilZqihr29QG2F4eZClxWOUUizYBEJE1XSI9Hn1EjCd0fjAVFqv4H4OWRO_h3YIXsR6CCEvUBzb79Nln3w6qqJaB8cCbm1OtSb1L-pSxoOUjd1qZEqUPOZReNVw","e":"AQAB","kid":"hX9JnDmblPPqD91SZBEKI_02FllQ9Wy-SkiBhPrxCNU","alg":"RS256","use":"sig"}', 'v1.JvsG8psY.54eO_omOz73nDo6zbKJOI5xYm1kLWp97Vh-GCN25_oxjlm8xCnbd4KVuneCD7kD0a1WOUEWU1OiGSa29iXaumtSN-wjc3yw5a9GbrvGuw6L6X4yPUVHES-1md4wOm6bcYt4chCZO4VQNdcafmd1JJwRdZZ1fInx0WhH51Uw393QM7qCPYCmFvMAld_ku_kxZqOwqgYqKBJaiE08bnjZKXM5yKcXZiqLT94d-ABzdT1MqnYc3fXqRilQoGQJ9h1CZnAYuUciK5bzHlLNlaDr6wYlhCRAkfsASfdqByFlqLfvVS85qcCpijHcjE4eQhnoojEjxHy9sq6g_etbcM35MIR11Jevdp6FXYFXOzlQQaX6XJe28-eWh7qsT1VkIschrOl4_37GlNO05IRewjPDzXbGZdiEFyNzYVtz7RYxC8E65WOyHIoygvbioObK7c9lr16y-o1W0IqdbnXmWGMlEPz_xRDyqrKvuAi3VNTsHEHknV2Y8OFti547ybjD5PHm0rqIZwROVJ3pwGt7BgG69LxZVRROYrHKxn4v1w_CDLcpH7nYQraLL_e7GprRrFiS153CNjbq0jiTaum8JD1JCgbS9E1njVeGHGKC_lJT3Qb0-A09g_B6Deb82_IU58JW-2IO_eAecqYI0uVDkjimdOJkaOsR-jBqfQE8Gs0wxlTbIgEyZr6hGQDB3AAkAOgoHsAbdKblanaqFGvfUnr_iEnVgHboQUAkJq8FippKAmSDvdKtS9jniR99WP9f41DOJOyxFZ7fKCL_VRHZbHhNSFeqyrdgnUSXi30_yOq4iNwleU14HcKTmjyI9OTnWhOrjSLP4Gi_FMxDnG4BX3mtwKI0oIAJAAakiOw_3QFS485ILfLjb1j88M3EETDfY0KwiQ-Dd0WtRfHCamdp2uUClds4flieqfDjXo7klhEMW_ZILFQ3_J0FUxzk0GMCk-DhgiiZlLV-SHZM45UpGT54gHFPxXkNV08uHHvAjVwupkqxYw4WD-ONDQrA2cwKg0Vr2BfJwTvHYKXlXHjbsCGmKtV-_Z4BaPDChLSKmWjEUL-Y5BKqars-0dCYQ4SVqjoWizCkXX8in2tK5ghNhVB81y-F3-NXeP5Uz8r-TRE7IqygHz3M21D-RhVXLStOsPFsxrgBQQr9LqV9H92nu7FxLMrFkedkfaToey_hKs0LsuIbEVWpmLdXhHVelC9jj8kM67TDADu_Mn0foKwEXb2RnEZOx_kjE7miCkY_ZC4eBGxwNId1MRM9wrqvllEOHB2PayR2HZmjo038bkcY__GZ0wfknAr9MYUAMypBQyEqCTMU1wDqu2pIXffYaGFfYd7SscWO9amrnqT1-ilC7CVFoeel57nd5slzwjo_awlGzVuDqAJtEY82JJkm6TZsEmRL1reEH0cajvSLggY1m16zp1i1bwXiQyGrmswvz4fJ5QCBvQJla3nGL9_yX3FrV7Qv5O9QsDFq4PdP659rK4Ve8qRujfZ1vpOaEZYpOBuoZFZAFSGI9FSMj2Mw63dRSkzeDTR7_yGmvDKPHQc74jstLBDnpH86y9uegdiPeFWs6-SVBH9MvO92JIYfJc-TIR3NnM1LI6oWqsIVnp63a87YiRQmkLJbczFZX0IfRfJmstbhvScqyfloyq8b9C3by', '-----BEGIN CERTIFICATE-----
MIIC4TCCAcmgAwIBAgIQdtrN3SQ188Jhp6oXN12xVjANBgkqhkiG9w0BAQsFADAU
MRIwEAYDVQQDDAlsb2NhbGhvc3QwHhcNMjYxMTIzMDI0MzQwWhcNMjkxMTIyMDI0
MzQwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwggEiMA0GCSqGSIb3DQEBAQUAA4IB
DwAwggEKAoIBAQD5/Iyo1jIuYshEdl3HLrdVGy2B35/ZFlUrwtbv6JKr9ccd7BUR
+B3mULp9WuF1v5pGapPPkMZMYggbL/nX6konKTIKJOq9NuNyPSo2wEc8K+zFhvuO
h2gbQg5GGUYzND33isgqb5u0n3I172ZdzxnhvjMu1S430p6f7L2V226Fl3PAgi4j
MhhI7efbBpCFDEzb8hVTTxiQltQAq/Nxmszwx2m9Qc6KVmqKGvb1AbYXh5kKXFY5
RSLNgEQkTVdIj0efUSMJ3R+MBUWq/gfg5ZE7+HdghexHoIIS9QHNvv02WffDqqol
oHxwJubU61JvUv6lLGg5SN3WpkSpQ85lF41XAgMBAAGjLzAtMAwGA1UdEwEB/wQC
MAAwHQYDVR0OBBYEFFN6JxtMQ1jjmi8cjTf8eGm3MX38MA0GCSqGSIb3DQEBCwUA
A4IBAQA863onjT77i77Jrmq0WlX9LlfiNmg3Hgo8ZyMmZ0Eth5bootKM3DeV5cmb
RKAtZmKNUyO6A2/xeD68oHdEdZBUhJ73D8W+SkYbYmlhZk4HJcJQLt4WAQN+3zsM
NAhMT9zzxtGNnt9oFXOvVB4XClE1STuUHkiLqJp1dhyfFtXfrS+xKOmBdTUPrsgU
Hxf6DqJPemQ0fCwUuBXR8AeqFeheq75FaDbyWvpvqZNt1wvWPbRlzOoEYxU8PLfh
c0DBS4MKi4P0S3X9MR29G99PiNEMQ/E7NvGP0Fju0Tp9FtR5KG5Cjv7VY39gpslG
37yPeGWG7Y8r438+P4S0zD1e/LGc
-----END CERTIFICATE-----
', 'active', '2026-11-23 02:43:40.907', '2026-11-23 02:43:40.907', NULL, '2029-11-22 02:43:40.907');
INSERT INTO public.signing_keys VALUES ('BQQNmeqej-XgmOC7eMdUThcnw5QUH5RNRxbezA0E9rg', 'saml-sp', 'RS256', '{"kty":"RSA","n":"o8rF75yh8jIeTeXkUgkWrgEZfZC42tKeUUeEhhtdQFjvzx-ZnohAM0S0uEs7QGtVWjmrY3EUBuqg0bV5fPx8ObkQwGNUcqMXOr9vu4hkmdnoGpaa7iOQr5UBzpTN3dQxwleVgqR2IZQrBT6jEnMEl2M2DCCppl4dGVVOW5RTjQPERHM_0d529NVQpRGHdOMPtJPctczKZ1hWSIR2sV3WF9l7iyojoyztOWsoTezfsdS1vsjo3NGHKygVjUT8K0-oLIJGgabAMp2EIL4dx35qwrOjz8V1QDh9h8BPzgfL3XDgEbGfADME2VL8MuSj8BL5IGZKfiRcOxoktbkpVrAf8w","e":"AQAB","kid":"BQQNmeqej-XgmOC7eMdUThcnw5QUH5RNRxbezA0E9rg","alg":"RS256","use":"sig"}', 'v1.JvsG8psY.qzuL3SW3shCzvL2T0PpvopBMFacp5k4TRnzeJVAd2hGLNbO2z5HEUyedwatvz1sGvizf_5meOIHSLTXucs7ANE8o3O8_lxKSqLpxQDiNHiZXvPbOYYi2G--JLFE_goCmDdzLcr-0EosSmxpwdfMEFIMWxihKMiQoH7eLueh-gRXyhZTLnHs_AUxQuBhAveFjPcvyznRbyIiV-NiD-iC_B_IjtxlNu8JjNKCo_UzjNnCHt8m2r6FSFt9D-3IN8X08hwN-cBsVm_Pju5kWLxKEd2pfq1sjr-1P_IkSyIbSV0AtZSxS9wsyytfYWl5IAOo82G0HJNdx8gmmKFMrRVsKv4nveRtLfEyIcA2BUsjq18XO1OScxDqgddP1hUzfFCpkkF5C6JhH3rKsb1GknTzEYGWGnxv4E9nR8hac1oD-GosoREQvH28P-6rEvOzaCHNUnp5ecmnsqjogLnQg1sStoT_3v8nCqaZua7JBRBSPjqh2lLrGYNA7u1OeQ2ytHylBlQQfMbnuhKExLeRHKqrC9nGwItZjvhrunak-xzYRDsj1bewctTzyxXs4jRjIwq4XOJxguYfCPwJL73nvzO1FS78TWHycd6Vs0ayFIfcX2VyQeSPb8Ezk_iqZWnHVUPFVrBZ6MC2SjKOWQboOWxqzfFVaaVPXEp3YcCEZg4lb1H2VmDMTtPz5FD-ZX8DLOzHZjlPMi46iVSUHxKcU0c0cn_4uqBENoA_WAv0yETY1L-fU8AqTdFslQlH5MsE1m0I4KmEqTV4WpIeadujKLco7h_KngR8ZnQyz5C_JrvvlioFJuodkNG29G1-2elTLfZnMMdiHrXZlb0_AqR6noAPpVyItrotBHT3HzecDuLlMt95AxBniKdJ5jD0PZvikiF-RwFhuFEUT7XTRN5__5lngAEgF06zETs9l6USIaZGfEZ-s2dYLrpj199gGNcwibtTMxJV5-zNEBXj_rbYSAu-NxACa9Qty-q2ZDJDYZaUXD4ONWNmNG4fHH5zLnUeJt_vBJ0FNf-W6sPGZhWVkK1yToTozV3GWu4nh5E6w6GozgiwHsy6BznMc8i9we-tJkOJjFkI-XEkQY3HzxSPTXtkjpM2bEUJ5dNPQmNnz93Tdb5RsDPuU9hPd9mK3yYDoalzinNN_mapI11ZLzdFKsLzDnjwreN3Gdq_L_WDZ72dJvo7xXA6h0DdLz8Ig9aByF_9YhEpyr0L05I3r8kz5uNUgWL2FHFHrfsUY1CqlKjuyuX9YSpIpNdHglu5XBPqsXAM4vOL93O5Y_4dtgqf3VWts_h47RvQy_BiAwnZEwlcarFu1ZCqRYcFR1ADug38qGMI0OTS5rngS2b1mJvtzG_XE2qdiShi1EA5AcMTC-wce7ftPTNvZXBhirTbaBjAz2JpYfkp2aaK-2r_ZCyVHOkvagTkIR718gQ5vDa1eTSQPQDg04wkfnEccaUwz4xaAZ7i4oA75a7pt4mns_wk5DDdpKsux4eKs0rJBUQNwc7GqilpLW7i9e1OwKtifm4NH_wEVf_YTDV3NLa4ohnl2lG0BpHlPnQhBM6-QTSJuZKSYtP5Au49ubox1ns--i2GDr31Qjmo3JGvXOe26KF8RIYYC9WrqllHGI0nWaEfDla7EaGgQVLGTApgXlqVkfJxtvQ', '-----BEGIN CERTIFICATE-----
MIIC4TCCAcmgAwIBAgIQUXIKx7Q+D8wH0CjxJVVlqTANBgkqhkiG9w0BAQsFADAU
MRIwEAYDVQQDDAlsb2NhbGhvc3QwHhcNMjYxMTIzMDI0MzQzWhcNMjkxMTIyMDI0
MzQzWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwggEiMA0GCSqGSIb3DQEBAQUAA4IB
DwAwggEKAoIBAQCjysXvnKHyMh5N5eRSCRauARl9kLja0p5RR4SGG11AWO/PH5me
iEAzRLS4SztAa1VaOatjcRQG6qDRtXl8/Hw5uRDAY1Ryoxc6v2+7iGSZ2egalpru
I5CvlQHOlM3d1DHCV5WCpHYhlCsFPqMScwSXYzYMIKmmXh0ZVU5blFONA8REcz/R
3nb01VClEYd04w+0k9y1zMpnWFZIhHaxXdYX2XuLKiOjLO05ayhN7N+x1LW+yOjc
0YcrKBWNRPwrT6gsgkaBpsAynYQgvh3HfmrCs6PPxXVAOH2HwE/OB8vdcOARsZ8A
MwTZUvwy5KPwEvkgZkp+JFw7GiS1uSlWsB/zAgMBAAGjLzAtMAwGA1UdEwEB/wQC
MAAwHQYDVR0OBBYEFGx9M+VSiJJnaM+7wxOl+uqihMADMA0GCSqGSIb3DQEBCwUA
A4IBAQAI72WVrKUZemeFes8bEb2N+1Pr4eHeSJEdKBsSO2D7Y04jGMGTYl2JOQnT
CkgGIRHwSH6T8H85xVq5zbW5Wrq1JQsk3aBt0bZPIkKIFUFzwkAmdHnBe5iElCcD
dml6UEU/Kr2J2oTIATTbyy2QSZPgNWhRbaox3Z1PPnmW6j2WogK+/1ylmTmzMNTS
L3qCXm/rI7ywxzg3lf/YE45oNm8d2US+aG/YryR/nmzTbGkWzXl/XlGg3bBKiX91
UzZfJQ9vSMX7D6dIQcYwFYmjL0wLVDTR6LzzuwcotWD9+KexmaEwIhY6hd3UbYlI
4O+SVqKRxOHks6qYd3w+NDIeCE2x
-----END CERTIFICATE-----
', 'active', '2026-11-23 02:43:43.099', '2026-11-23 02:43:43.099', NULL, '2029-11-22 02:43:43.099');
INSERT INTO public.signing_keys VALUES ('Xccg64fKYWEB_wagP3kRMFrDAxYL2TmSIni5uVi9r5E', 'saml-sp-encryption', 'RSA-OAEP', '{"kty":"RSA","n":"0-k_6S7eqK58tcxf_bgYUWcogT9D-CbJQxwCD4px8-WVIdfyjJsZJTuh9pKDh8cngsTm7ubHmkZDZzWrAoMYh598Msyxp9JcxrXvzEEDlWkZoGTkQxTKoXeqFEwpYpYPdOXro9v2olL6gCsMc581nvT4pEVD3Fm1afwinhRfhGYJ34qKnJNXmUObP6QdbgVBXIrMJ6Glq8bMDjDRMSKdpKeZC7eljf04ZuQeugvtJEdX8WqzJqGdOSzus5ICxfPZZoTTpkO529U6OPIyFig4ueSD-RxXSIY5IGqI-2HBDub8a2OVxdSxA61yLQCx1ogv2p2sdeLBGUy4Dw96PskfeQ","e":"AQAB","kid":"Xccg64fKYWEB_wagP3kRMFrDAxYL2TmSIni5uVi9r5E","alg":"RSA-OAEP","use":"enc"}', 'v1.JvsG8psY.Jst96uWBY9yG8wtv7wAIHBjc8RMbL9IsQP9Xoi_QbSF2mpqczOLhv8vueMC33f8UGEdDQn-jadxkPPbrnmjpUFgy4ppNAO3kYYsRAz1ala1TF006ghLlREiNvRshkrbEIhh06VfZUArppszeFOhwBy9ox0xKMAoeFZAkYDrNCurFmHV99xQlBxsxg9zXMdMwZZmH1X3swGpymwshGZZSjGMpbSVCCjxu3ZYJf3qAMI_YEnIbiD4Ss12HzDVXuWU4_zFonyuIkWIR-duJUpxTwD8aTWjvhhSfSP30ZDhKmPIRy46GYzXzjuvS8wqJzCOt8pZNWwMOyWMaGIvY22Awz7seK_NIMDB8TA3ic07p5cNG_q4Z2yDnlRBElhYFMPmVPaWGp2JO8bQ08wBWmuAdxOJ8DcqLs1xyTEOAyv3WHPgubtP4dwF4rlV_Wo-eJnWY8H8pA1pAKudO2Ab8T2ylrufFkGu3wh6oV5fYan41ukw_KX9XvfQYofLtd1i3GEYEO9xIo5Tx-SCyoKCBv5Zqy3mNBO0k7jZcYPyqnpwhbhEGxbmrNM0Ts8Ec-KgkHoVqhRpfUInjuVcrkxECLu1Joe2NRb8jU9E0zTi7pQ_hJ7IL2Oa_u_t2flKjPasAjSgp0grgKPCK-Cyho0ztEOYffKoHT20K8VM-crzt8QrY89UJTRnj8zszv0UjFKDXAK0mAh5BzEbhR8SZGZO6bswMP4hSnx3dl_5qdZfOb0e_PYYo_ajwOdw55bA-2lz90CRapqmcEow0Ko8w1XxTdQD1Ul3F-E97Klsr9pLvyepFEOVGEXmsoYZTeIqS3q_pmtEGUD5nowsgiLIpEu70UePUyViTa9-i558eiWefJG8H4ORsrifSeFeLcNny0qZDBkLLdlf7GJ_si6NnIYKOakjzsIq4TlcRp789raTRCIRA2pWcPbvEY0MwNkdwt1geR9mL8Xx9AaAHfn8ktaaXUYYTJTvNxiFolwviS3dCm1WyPmPPKOYcQFsoWTGEkmlk-ALzjZ8uKfYm4a5PbcLYdacKV9PeQ6YpRzDmDFqXye1C4tBkWPX_xahGO74gRGKUcvBXJKWrc_YfwD-E9vA3BGVs2yeYOHsdDhRmFNdeO2kDPAXwhQAmrpIp2nrg_vQRqyLeuektODEZXWvF_vp-ig86GItp13ChtlWXP-n-pbkJxceDBVutrqCW8ES2-JvOSzmY8YPBdtmBphfqnSdCJ-IjQSa-ZHI9sEAwen6eQROHabdgZVHhSFmOsnbD1NMAPX4YfUA2ELT_1tVxeWsLzz5pvMjPLlazM9NbX8Wcm-dohpk4Tt9Le9EGHfxKK54N-x6zqj7UjEGD3tpElMFmzy2WNn0lmTdW9lt63wWHx2-fZPvMJsqUFikQk9VFeM3FGIczG90KiYoU0pdzkGtIAUD14D-eijgzt6ux8scw75A2aD30AuwJD7n0yk-rj5lN0smwmoo4iTudj-4A6bZpgNSDbkbe7mlfbnNbnCYLjSdC3utYhW8TobCRUqR2kwx4gLl66-WHX-g6cl9VdGLzQbCL0YtkQ4su6FPLEABRpYLRDkawHgOA7N-smvdHv-wvCh40U5obhV45v8pm2z8bHwh1XWgnI1BOltBm3E7z7azuiiH05XyP7baVMuHlsaNpkQ', '-----BEGIN CERTIFICATE-----
MIIC4TCCAcmgAwIBAgIQdZbwHtqNXszwaVUpEyh8yzANBgkqhkiG9w0BAQsFADAU
MRIwEAYDVQQDDAlsb2NhbGhvc3QwHhcNMjYxMTIzMDI0MzQzWhcNMjkxMTIyMDI0
MzQzWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwggEiMA0GCSqGSIb3DQEBAQUAA4IB
DwAwggEKAoIBAQDT6T/pLt6orny1zF/9uBhRZyiBP0P4JslDHAIPinHz5ZUh1/KM
mxklO6H2koOHxyeCxObu5seaRkNnNasCgxiHn3wyzLGn0lzGte/MQQOVaRmgZORD
FMqhd6oUTClilg905euj2/aiUvqAKwxznzWe9PikRUPcWbVp/CKeFF+EZgnfioqc
k1eZQ5s/pB1uBUFciswnoaWrxswOMNExIp2kp5kLt6WN/Thm5B66C+0kR1fxarMm
oZ05LO6zkgLF89lmhNOmQ7nb1To48jIWKDi55IP5HFdIhjkgaoj7YcEO5vxrY5XF
1LEDrXItALHWiC/anax14sEZTLgPD3o+yR95AgMBAAGjLzAtMAwGA1UdEwEB/wQC
MAAwHQYDVR0OBBYEFPL/8qt21ImdMIZFv23S32DI7SPAMA0GCSqGSIb3DQEBCwUA
A4IBAQBs4aWGgjB775Le6pAyr6WLhTDDwuUWefH/tBfELa2H1HK80iyagYstlarA
5r0ySRT3Qg/cViJna6g/B+UlYbRSF8/Bedkeq8Na3HrvY914W0saG9oWiEQ/1sA7
ZhCmqjba/ZpCgatZzd4OrbX/rXdHqAJ8QOV0p8y/GxDgizRybiuTtE0hkwx0/4t1
kmrjHki0vW404RQbzpPyCnXPH/HI/eewSEm5Z8bnkl+aEczm3sLk0fllFx83yysm
OxptMBrzRq4BKPKq+vcURMZONle1grzgKyeClXO2aeVbDkNi3q3Ddya/CG+m/cMf
7lTdfvof+uFggCCX7OBiWO4BLatt
-----END CERTIFICATE-----
', 'active', '2026-11-23 02:43:43.002', '2026-11-23 02:43:43.002', NULL, '2029-11-22 02:43:43.002');

INSERT INTO public.user_roles VALUES ('uZc6NQabFwWa-ruKrw0A7R79', 'kC6_SySoLKNniAcFsQzMiBQp', '', '3MbiB6Ky.aX_1kkHcISl94BatRa2YTl3VGYwSQQEWjebWQCgzEwc');

INSERT INTO public.users VALUES ('_LAGCutAgxpvfGfVKselVqvj', 'ann', 'ann', 'ann@example.com', 'ann@example.com', true, 'Ann Example', NULL, NULL, NULL, NULL, NULL, NULL, '{}', NULL, true, 'local', '2026-11-23 02:43:01.445', '2026-11-23 02:43:01.445', 'ann
ann@example.com
ann example', NULL, NULL, NULL, NULL, NULL, false, NULL, NULL, '3MbiB6Ky.3CuMqvmP5hgVMcNs3Jxh1CxyV8f_gKwH4QAtpGKFTHM');
INSERT INTO public.users VALUES ('uZc6NQabFwWa-ruKrw0A7R79', 'root', 'root', 'root@example.com', 'root@example.com', false, 'Root', NULL, NULL, NULL, NULL, NULL, NULL, '{}', NULL, true, 'local', '2026-11-23 02:43:12.448', '2026-11-23 02:43:12.448', 'root
root@example.com
root', NULL, NULL, NULL, NULL, NULL, false, NULL, NULL, '3MbiB6Ky.v2CPbu9AJVdPasTIjJ6MSRMuq5EXW93PoVyJUXw6b_w');

SELECT pg_catalog.setval('public.audit_events_id_seq', 25, true);

ALTER TABLE ONLY public._prisma_migrations
    ADD CONSTRAINT _prisma_migrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.application_roles
    ADD CONSTRAINT application_roles_pkey PRIMARY KEY (application_id, role_id);

ALTER TABLE ONLY public.application_users
    ADD CONSTRAINT application_users_pkey PRIMARY KEY (application_id, user_id);

ALTER TABLE ONLY public.applications
    ADD CONSTRAINT applications_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_chain
    ADD CONSTRAINT audit_chain_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_checkpoints
    ADD CONSTRAINT audit_checkpoints_pkey PRIMARY KEY (kind, seq);

ALTER TABLE ONLY public.audit_events
    ADD CONSTRAINT audit_events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.client_secrets
    ADD CONSTRAINT client_secrets_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.connection_documents
    ADD CONSTRAINT connection_documents_pkey PRIMARY KEY (connection_id, kind);

ALTER TABLE ONLY public.connection_domains
    ADD CONSTRAINT connection_domains_pkey PRIMARY KEY (domain);

ALTER TABLE ONLY public.connection_role_mappings
    ADD CONSTRAINT connection_role_mappings_pkey PRIMARY KEY (connection_id, group_name, role_id);

ALTER TABLE ONLY public.connection_secrets
    ADD CONSTRAINT connection_secrets_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.connections
    ADD CONSTRAINT connections_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.consents
    ADD CONSTRAINT consents_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.data_keys
    ADD CONSTRAINT data_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.external_identities
    ADD CONSTRAINT external_identities_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.first_factor_approvals
    ADD CONSTRAINT first_factor_approvals_pkey PRIMARY KEY (user_id);

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

ALTER TABLE ONLY public.saml_metadata
    ADD CONSTRAINT saml_metadata_pkey PRIMARY KEY (application_id);

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

ALTER TABLE ONLY public.stored_forms
    ADD CONSTRAINT stored_forms_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.totp_credentials
    ADD CONSTRAINT totp_credentials_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY public.upstream_requests
    ADD CONSTRAINT upstream_requests_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.upstream_sessions
    ADD CONSTRAINT upstream_sessions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.user_roles
    ADD CONSTRAINT user_roles_pkey PRIMARY KEY (user_id, role_id, via);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);

CREATE INDEX application_roles_role_id_idx ON public.application_roles USING btree (role_id);

CREATE INDEX application_users_user_id_idx ON public.application_users USING btree (user_id);

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

CREATE INDEX connection_documents_next_read_at_idx ON public.connection_documents USING btree (next_read_at);

CREATE INDEX connection_domains_connection_id_idx ON public.connection_domains USING btree (connection_id);

CREATE INDEX connection_role_mappings_role_id_idx ON public.connection_role_mappings USING btree (role_id);

CREATE INDEX connection_secrets_connection_id_idx ON public.connection_secrets USING btree (connection_id);

CREATE INDEX connections_position_id_idx ON public.connections USING btree ("position", id);

CREATE INDEX consents_application_id_idx ON public.consents USING btree (application_id);

CREATE UNIQUE INDEX consents_user_id_application_id_key ON public.consents USING btree (user_id, application_id);

CREATE UNIQUE INDEX data_keys_purpose_generation_key ON public.data_keys USING btree (purpose, generation);

CREATE UNIQUE INDEX external_identities_connection_id_subject_key ON public.external_identities USING btree (connection_id, subject);

CREATE INDEX external_identities_user_id_idx ON public.external_identities USING btree (user_id);

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

CREATE INDEX password_credentials_kind_idx ON public.password_credentials USING btree (kind);

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

CREATE INDEX stored_forms_expires_at_idx ON public.stored_forms USING btree (expires_at);

CREATE INDEX stored_forms_user_id_idx ON public.stored_forms USING btree (user_id);

CREATE UNIQUE INDEX upstream_requests_answer_id_key ON public.upstream_requests USING btree (answer_id);

CREATE INDEX upstream_requests_expires_at_idx ON public.upstream_requests USING btree (expires_at);

CREATE INDEX upstream_sessions_connection_id_name_id_hash_idx ON public.upstream_sessions USING btree (connection_id, name_id_hash);

CREATE INDEX upstream_sessions_connection_id_sid_idx ON public.upstream_sessions USING btree (connection_id, sid);

CREATE INDEX upstream_sessions_connection_id_subject_idx ON public.upstream_sessions USING btree (connection_id, subject);

CREATE INDEX upstream_sessions_expires_at_idx ON public.upstream_sessions USING btree (expires_at);

CREATE INDEX upstream_sessions_session_uid_idx ON public.upstream_sessions USING btree (session_uid);

CREATE INDEX upstream_sessions_user_id_idx ON public.upstream_sessions USING btree (user_id);

CREATE INDEX user_roles_role_id_idx ON public.user_roles USING btree (role_id);

CREATE INDEX users_created_at_id_is_active_source_search_key_idx ON public.users USING btree (created_at, id, is_active, source, search_key);

CREATE UNIQUE INDEX users_email_key_key ON public.users USING btree (email_key);

CREATE UNIQUE INDEX users_username_key_key ON public.users USING btree (username_key);

ALTER TABLE ONLY public.application_roles
    ADD CONSTRAINT application_roles_application_id_fkey FOREIGN KEY (application_id) REFERENCES public.applications(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.application_roles
    ADD CONSTRAINT application_roles_role_id_fkey FOREIGN KEY (role_id) REFERENCES public.roles(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.application_users
    ADD CONSTRAINT application_users_application_id_fkey FOREIGN KEY (application_id) REFERENCES public.applications(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.application_users
    ADD CONSTRAINT application_users_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.client_secrets
    ADD CONSTRAINT client_secrets_application_id_fkey FOREIGN KEY (application_id) REFERENCES public.applications(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.connection_documents
    ADD CONSTRAINT connection_documents_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES public.connections(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.connection_domains
    ADD CONSTRAINT connection_domains_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES public.connections(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.connection_role_mappings
    ADD CONSTRAINT connection_role_mappings_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES public.connections(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.connection_role_mappings
    ADD CONSTRAINT connection_role_mappings_role_id_fkey FOREIGN KEY (role_id) REFERENCES public.roles(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.connection_secrets
    ADD CONSTRAINT connection_secrets_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES public.connections(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.consents
    ADD CONSTRAINT consents_application_id_fkey FOREIGN KEY (application_id) REFERENCES public.applications(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.consents
    ADD CONSTRAINT consents_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.external_identities
    ADD CONSTRAINT external_identities_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES public.connections(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.external_identities
    ADD CONSTRAINT external_identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.first_factor_approvals
    ADD CONSTRAINT first_factor_approvals_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON UPDATE CASCADE ON DELETE CASCADE;

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

ALTER TABLE ONLY public.saml_metadata
    ADD CONSTRAINT saml_metadata_application_id_fkey FOREIGN KEY (application_id) REFERENCES public.applications(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.totp_credentials
    ADD CONSTRAINT totp_credentials_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.user_roles
    ADD CONSTRAINT user_roles_role_id_fkey FOREIGN KEY (role_id) REFERENCES public.roles(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.user_roles
    ADD CONSTRAINT user_roles_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON UPDATE CASCADE ON DELETE CASCADE;

