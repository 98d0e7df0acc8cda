-- CreateTable
CREATE TABLE "users" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "username" TEXT NOT NULL,
    "username_key" TEXT NOT NULL,
    "email" TEXT,
    "email_key" TEXT,
    "email_verified" BOOLEAN NOT NULL DEFAULT false,
    "email_proven" BOOLEAN NOT NULL DEFAULT false,
    "name" TEXT,
    "given_name" TEXT,
    "family_name" TEXT,
    "middle_name" TEXT,
    "nickname" TEXT,
    "profile" TEXT,
    "picture" TEXT,
    "website" TEXT,
    "gender" TEXT,
    "birthdate" TEXT,
    "locale" TEXT,
    "zoneinfo" TEXT,
    "phone_number" TEXT,
    "phone_number_verified" BOOLEAN NOT NULL DEFAULT false,
    "address" TEXT,
    "attributes" TEXT NOT NULL DEFAULT '{}',
    "sso_id" TEXT,
    "is_enabled" BOOLEAN NOT NULL DEFAULT true,
    "active_from" DATETIME,
    "active_until" DATETIME,
    "source" TEXT NOT NULL DEFAULT 'local',
    "terms_version" TEXT,
    "terms_accepted_at" DATETIME,
    "delete_at" DATETIME,
    "search_key" TEXT NOT NULL DEFAULT '',
    "name_key" TEXT NOT NULL DEFAULT '',
    "last_name_key" TEXT NOT NULL DEFAULT '',
    "mac" TEXT NOT NULL DEFAULT '',
    "last_seen_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "end_notice" TEXT NOT NULL DEFAULT '',
    "idle_notice" TEXT NOT NULL DEFAULT '',
    "idle_notice_at" DATETIME,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" DATETIME NOT NULL,
    "hides_first_steps" BOOLEAN NOT NULL DEFAULT false
);

-- CreateTable
CREATE TABLE "user_pictures" (
    "user_id" TEXT NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL,
    "content" BLOB NOT NULL,
    CONSTRAINT "user_pictures_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "user_values" (
    "user_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "value_key" TEXT NOT NULL,

    PRIMARY KEY ("user_id", "name", "value_key"),
    CONSTRAINT "user_values_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "user_notes" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "author_id" TEXT,
    "text" TEXT NOT NULL,
    "created_at" DATETIME NOT NULL,
    CONSTRAINT "user_notes_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "secret_hash" TEXT NOT NULL,
    "last_four" TEXT NOT NULL,
    "permissions" TEXT NOT NULL,
    "created_by" TEXT,
    "created_at" DATETIME NOT NULL,
    "expires_at" DATETIME NOT NULL,
    "revoked_at" DATETIME,
    "mac" TEXT NOT NULL DEFAULT '',
    "last_used_at" DATETIME,
    CONSTRAINT "api_keys_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "app_passwords" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "application_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "secret_hash" TEXT NOT NULL,
    "created_at" DATETIME NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',
    "last_used_at" DATETIME,
    CONSTRAINT "app_passwords_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "app_passwords_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "sign_up_codes" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL,
    "code_hash" TEXT NOT NULL,
    "max_uses" INTEGER NOT NULL,
    "uses" INTEGER NOT NULL DEFAULT 0,
    "source" TEXT NOT NULL,
    "created_by" TEXT,
    "created_at" DATETIME NOT NULL,
    "expires_at" DATETIME,
    "mac" TEXT NOT NULL DEFAULT ''
);

-- CreateTable
CREATE TABLE "saved_filters" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "query" TEXT NOT NULL,
    "created_at" DATETIME NOT NULL,
    CONSTRAINT "saved_filters_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "retired_subjects" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT,
    "retired_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "mac" TEXT NOT NULL DEFAULT ''
);

-- CreateTable
CREATE TABLE "roles" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "source" TEXT NOT NULL DEFAULT 'local',
    "mac" TEXT NOT NULL DEFAULT '',
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- CreateTable
CREATE TABLE "permissions" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "resource" TEXT NOT NULL,
    "action" TEXT NOT NULL
);

-- CreateTable
CREATE TABLE "user_roles" (
    "user_id" TEXT NOT NULL,
    "role_id" TEXT NOT NULL,
    "via" TEXT NOT NULL DEFAULT '',
    "since" DATETIME,
    "until" DATETIME,
    "notice" TEXT NOT NULL DEFAULT '',
    "mac" TEXT NOT NULL DEFAULT '',

    PRIMARY KEY ("user_id", "role_id", "via"),
    CONSTRAINT "user_roles_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "user_roles_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "roles" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "role_permissions" (
    "role_id" TEXT NOT NULL,
    "permission_id" TEXT NOT NULL,

    PRIMARY KEY ("role_id", "permission_id"),
    CONSTRAINT "role_permissions_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "roles" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "role_permissions_permission_id_fkey" FOREIGN KEY ("permission_id") REFERENCES "permissions" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "password_credentials" (
    "user_id" TEXT NOT NULL PRIMARY KEY,
    "hash" TEXT NOT NULL,
    "must_change" BOOLEAN NOT NULL DEFAULT false,
    "mac" TEXT NOT NULL DEFAULT '',
    "long" BOOLEAN NOT NULL DEFAULT false,
    "changed_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "kind" TEXT NOT NULL DEFAULT '',
    CONSTRAINT "password_credentials_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "totp_credentials" (
    "user_id" TEXT NOT NULL PRIMARY KEY,
    "secret_sealed" TEXT NOT NULL,
    "algorithm" TEXT NOT NULL DEFAULT 'sha1',
    "digits" INTEGER NOT NULL DEFAULT 6,
    "period" INTEGER NOT NULL DEFAULT 30,
    "confirmed_at" DATETIME,
    "last_step" BIGINT NOT NULL DEFAULT 0,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "totp_credentials_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "passkeys" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "public_key" BLOB NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',
    "counter" BIGINT NOT NULL DEFAULT 0,
    "transports" TEXT NOT NULL DEFAULT '[]',
    "aaguid" TEXT,
    "backed_up" BOOLEAN NOT NULL DEFAULT false,
    "discoverable" BOOLEAN NOT NULL DEFAULT false,
    "user_verified" BOOLEAN NOT NULL DEFAULT false,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" DATETIME,
    CONSTRAINT "passkeys_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "phone_factors" (
    "user_id" TEXT NOT NULL PRIMARY KEY,
    "number" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',
    "confirmed_at" DATETIME NOT NULL,
    "last_used_at" DATETIME,
    CONSTRAINT "phone_factors_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "first_factor_approvals" (
    "user_id" TEXT NOT NULL PRIMARY KEY,
    "requested_at" DATETIME,
    "allowed_until" DATETIME,
    "reset_by_mail_at" DATETIME,
    "mac" TEXT NOT NULL DEFAULT '',
    CONSTRAINT "first_factor_approvals_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "recovery_codes" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "code_hash" TEXT NOT NULL,
    "used_at" DATETIME,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "recovery_codes_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "password_reset_tokens" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',
    "expires_at" DATETIME NOT NULL,
    "used_at" DATETIME,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "password_reset_tokens_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "mail_tokens" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "data" TEXT NOT NULL DEFAULT '{}',
    "mac" TEXT NOT NULL DEFAULT '',
    "expires_at" DATETIME NOT NULL,
    "used_at" DATETIME,
    "opened_at" DATETIME,
    "bounced_at" DATETIME,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "mail_tokens_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "one_time_codes" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "channel" TEXT NOT NULL,
    "code_hash" TEXT NOT NULL,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "expires_at" DATETIME NOT NULL,
    "used_at" DATETIME,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "one_time_codes_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "known_browsers" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "user_agent" TEXT,
    "address" TEXT,
    "trusted_until" DATETIME,
    "mac" TEXT NOT NULL DEFAULT '',
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME NOT NULL,
    CONSTRAINT "known_browsers_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "connections" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "kind" TEXT NOT NULL,
    "preset" TEXT NOT NULL DEFAULT 'generic',
    "name" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "position" INTEGER NOT NULL DEFAULT 0,
    "settings" TEXT NOT NULL,
    "source" TEXT NOT NULL DEFAULT 'local',
    "mac" TEXT NOT NULL DEFAULT '',
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" DATETIME NOT NULL
);

-- CreateTable
CREATE TABLE "connection_secrets" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "connection_id" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "value_sealed" TEXT NOT NULL,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME,
    "rejected_at" DATETIME,
    "rejected_reason" TEXT,
    "rejected_text" TEXT,
    CONSTRAINT "connection_secrets_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "connection_documents" (
    "connection_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',
    "read_at" DATETIME NOT NULL,
    "next_read_at" DATETIME NOT NULL,
    "failing_since" DATETIME,
    "last_error" TEXT,

    PRIMARY KEY ("connection_id", "kind"),
    CONSTRAINT "connection_documents_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "connection_domains" (
    "domain" TEXT NOT NULL PRIMARY KEY,
    "connection_id" TEXT NOT NULL,
    "challenge" TEXT NOT NULL,
    "proven_at" DATETIME,
    "checked_at" DATETIME,
    "mac" TEXT NOT NULL DEFAULT '',
    CONSTRAINT "connection_domains_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "connection_role_mappings" (
    "connection_id" TEXT NOT NULL,
    "group_name" TEXT NOT NULL,
    "role_id" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',

    PRIMARY KEY ("connection_id", "group_name", "role_id"),
    CONSTRAINT "connection_role_mappings_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "connection_role_mappings_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "roles" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "external_identities" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "connection_id" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "label" TEXT NOT NULL DEFAULT '',
    "mac" TEXT NOT NULL DEFAULT '',
    "linked_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" DATETIME,
    "checked_at" DATETIME,
    "gone_since" DATETIME,
    CONSTRAINT "external_identities_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "external_identities_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "upstream_requests" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "connection_id" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "bound_to" TEXT NOT NULL,
    "data_sealed" TEXT NOT NULL,
    "answer_id" TEXT,
    "answer_sealed" TEXT,
    "redeemed_at" DATETIME,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME NOT NULL
);

-- CreateTable
CREATE TABLE "upstream_sessions" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "session_uid" TEXT NOT NULL,
    "connection_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "sid" TEXT,
    "name_id_hash" TEXT,
    "data_sealed" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME NOT NULL
);

-- CreateTable
CREATE TABLE "applications" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "client_id" TEXT NOT NULL,
    "protocol" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "consent" TEXT NOT NULL DEFAULT 'explicit',
    "access" TEXT NOT NULL DEFAULT 'everyone',
    "metadata" TEXT NOT NULL,
    "source" TEXT NOT NULL DEFAULT 'local',
    "name_key" TEXT NOT NULL DEFAULT '',
    "mac" TEXT NOT NULL DEFAULT '',
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" DATETIME NOT NULL
);

-- CreateTable
CREATE TABLE "application_pictures" (
    "application_id" TEXT NOT NULL PRIMARY KEY,
    "url" TEXT,
    "name" TEXT,
    "content" BLOB,
    "mac" TEXT NOT NULL DEFAULT '',
    "tries" INTEGER NOT NULL DEFAULT 0,
    "next_try_at" DATETIME,
    "last_error" TEXT,
    "updated_at" DATETIME NOT NULL,
    CONSTRAINT "application_pictures_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "application_roles" (
    "application_id" TEXT NOT NULL,
    "role_id" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',

    PRIMARY KEY ("application_id", "role_id"),
    CONSTRAINT "application_roles_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "application_roles_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "roles" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "client_secrets" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "application_id" TEXT NOT NULL,
    "secret_hash" TEXT,
    "secret_sealed" TEXT,
    "last_four" TEXT NOT NULL DEFAULT '',
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME,
    "mac" TEXT NOT NULL DEFAULT '',
    CONSTRAINT "client_secrets_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "client_secret_uses" (
    "secret_id" TEXT NOT NULL PRIMARY KEY,
    "last_used_at" DATETIME NOT NULL,
    CONSTRAINT "client_secret_uses_secret_id_fkey" FOREIGN KEY ("secret_id") REFERENCES "client_secrets" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "resources" (
    "identifier" TEXT NOT NULL PRIMARY KEY,
    "scopes" TEXT NOT NULL,
    "scope_permissions" TEXT NOT NULL DEFAULT '{}',
    "scope_titles" TEXT NOT NULL DEFAULT '{}',
    "signing_alg" TEXT NOT NULL DEFAULT 'RS256',
    "access" TEXT NOT NULL DEFAULT 'everyone',
    "clients" TEXT NOT NULL DEFAULT 'registered',
    "document_hosts" TEXT NOT NULL DEFAULT '[]',
    "agent_scopes" TEXT NOT NULL DEFAULT '[]',
    "source" TEXT NOT NULL DEFAULT 'local',
    "mac" TEXT NOT NULL DEFAULT '',
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- CreateTable
CREATE TABLE "oidc_artifacts" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "model" TEXT NOT NULL,
    "payload" TEXT NOT NULL,
    "grant_id" TEXT,
    "user_code" TEXT,
    "uid" TEXT,
    "account_id" TEXT,
    "client_id" TEXT,
    "consumed_at" BIGINT,
    "expires_at" BIGINT,
    "mac" TEXT NOT NULL DEFAULT ''
);

-- CreateTable
CREATE TABLE "consents" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "application_id" TEXT NOT NULL,
    "granted" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',
    "granted_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" DATETIME NOT NULL,
    CONSTRAINT "consents_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "consents_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "application_users" (
    "application_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "first_used_at" DATETIME NOT NULL,

    PRIMARY KEY ("application_id", "user_id"),
    CONSTRAINT "application_users_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "application_users_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "sign_in_attempts" (
    "uid" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT,
    "factors" TEXT NOT NULL DEFAULT '[]',
    "data" TEXT NOT NULL DEFAULT '{}',
    "tries" INTEGER NOT NULL DEFAULT 0,
    "expires_at" DATETIME NOT NULL,
    "mac" TEXT NOT NULL DEFAULT ''
);

-- CreateTable
CREATE TABLE "session_devices" (
    "uid" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "browser_id" TEXT,
    "user_agent" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME NOT NULL
);

-- CreateTable
CREATE TABLE "rp_sessions" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "client_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "sso_uid" TEXT NOT NULL,
    "sid" TEXT,
    "acr" TEXT,
    "amr" TEXT NOT NULL DEFAULT '[]',
    "auth_time" DATETIME NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME NOT NULL
);

-- CreateTable
CREATE TABLE "stored_forms" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "form_sealed" TEXT NOT NULL,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME NOT NULL
);

-- CreateTable
CREATE TABLE "saml_metadata" (
    "application_id" TEXT NOT NULL PRIMARY KEY,
    "url" TEXT NOT NULL,
    "next_read_at" DATETIME NOT NULL,
    "pending_xml" TEXT,
    "pending_key" TEXT,
    "pending_since" DATETIME,
    "rejected_key" TEXT,
    "mac" TEXT NOT NULL DEFAULT '',
    CONSTRAINT "saml_metadata_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "saml_requests" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "application_id" TEXT NOT NULL,
    "request_id" TEXT,
    "browser_hash" TEXT NOT NULL,
    "data" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',
    "used_at" DATETIME,
    "expires_at" DATETIME NOT NULL
);

-- CreateTable
CREATE TABLE "seen_messages" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "expires_at" DATETIME NOT NULL
);

-- CreateTable
CREATE TABLE "saml_name_ids" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "application_id" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- CreateTable
CREATE TABLE "saml_participants" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "session_uid" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "application_id" TEXT NOT NULL,
    "name_id" TEXT NOT NULL,
    "name_id_format" TEXT NOT NULL,
    "name_qualifier" TEXT,
    "sp_name_qualifier" TEXT,
    "session_index" TEXT NOT NULL,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME NOT NULL,
    "ended_at" DATETIME
);

-- CreateTable
CREATE TABLE "signing_keys" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "use" TEXT NOT NULL,
    "alg" TEXT NOT NULL,
    "public_jwk" TEXT NOT NULL,
    "private_sealed" TEXT NOT NULL,
    "certificate" TEXT,
    "state" TEXT NOT NULL,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "activated_at" DATETIME,
    "retired_at" DATETIME,
    "certificate_until" DATETIME
);

-- CreateTable
CREATE TABLE "data_keys" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "purpose" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "key_sealed" TEXT NOT NULL,
    "created_at" DATETIME NOT NULL
);

-- CreateTable
CREATE TABLE "mail_messages" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "recipient" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "body_sealed" TEXT NOT NULL,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "next_try_at" DATETIME NOT NULL,
    "sent_at" DATETIME,
    "failed_at" DATETIME,
    "last_error" TEXT,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "kind" TEXT NOT NULL DEFAULT '',
    "user_id" TEXT,
    "is_file" BOOLEAN NOT NULL DEFAULT false
);

-- CreateTable
CREATE TABLE "logout_deliveries" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "channel" TEXT NOT NULL DEFAULT 'back',
    "participant_id" TEXT,
    "client_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "sid" TEXT,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "next_try_at" DATETIME NOT NULL,
    "done_at" DATETIME,
    "failed_at" DATETIME,
    "last_error" TEXT,
    "mac" TEXT NOT NULL DEFAULT '',
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- CreateTable
CREATE TABLE "logout_runs" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "browser_hash" TEXT,
    "user_id" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "asked_by" TEXT,
    "answer" TEXT NOT NULL DEFAULT '{}',
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "seen_at" DATETIME NOT NULL,
    "finished_at" DATETIME,
    "expires_at" DATETIME NOT NULL,
    "mac" TEXT NOT NULL DEFAULT ''
);

-- CreateTable
CREATE TABLE "logout_participants" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "run_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "client_id" TEXT NOT NULL,
    "protocol" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "channel" TEXT NOT NULL,
    "data" TEXT NOT NULL DEFAULT '{}',
    "state" TEXT NOT NULL,
    "reason" TEXT,
    "reach" TEXT,
    "message_id" TEXT,
    "deadline" DATETIME,
    "settled_at" DATETIME,
    "mac" TEXT NOT NULL DEFAULT '',
    CONSTRAINT "logout_participants_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "logout_runs" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "audit_events" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "type" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "reason" TEXT,
    "actor_id" TEXT,
    "actor_app" TEXT,
    "subject_id" TEXT,
    "client_id" TEXT,
    "address" TEXT,
    "user_agent" TEXT,
    "request_id" TEXT,
    "data" TEXT NOT NULL DEFAULT '{}',
    "salt" TEXT,
    "erased_by" INTEGER,
    "digest" TEXT NOT NULL DEFAULT '',
    "row_mac" TEXT NOT NULL DEFAULT '',
    "chain_seq" INTEGER,
    "chain_hash" TEXT
);

-- CreateTable
CREATE TABLE "audit_chain" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "seq" INTEGER NOT NULL,
    "hash" TEXT NOT NULL,
    "mac" TEXT NOT NULL
);

-- CreateTable
CREATE TABLE "audit_checkpoints" (
    "kind" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "hash" TEXT NOT NULL,
    "at" DATETIME NOT NULL,
    "key_id" TEXT NOT NULL,
    "signature" TEXT NOT NULL,

    PRIMARY KEY ("kind", "seq")
);

-- CreateTable
CREATE TABLE "rejections" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "endpoint" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "client_id" TEXT,
    "subject_id" TEXT,
    "request_id" TEXT NOT NULL,
    "data" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',
    "expires_at" DATETIME NOT NULL
);

-- CreateTable
CREATE TABLE "settings" (
    "key" TEXT NOT NULL PRIMARY KEY,
    "value" TEXT NOT NULL,
    "source" TEXT NOT NULL DEFAULT 'local',
    "mac" TEXT NOT NULL DEFAULT '',
    "updated_at" DATETIME NOT NULL
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "request_hash" TEXT NOT NULL,
    "response_sealed" TEXT,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME NOT NULL
);

-- CreateTable
CREATE TABLE "job_locks" (
    "name" TEXT NOT NULL PRIMARY KEY,
    "holder" TEXT NOT NULL,
    "locked_until" DATETIME NOT NULL
);

-- CreateTable
CREATE TABLE "directory_revisions" (
    "shard" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "revision" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "rate_limits" (
    "key" TEXT NOT NULL PRIMARY KEY,
    "points" INTEGER NOT NULL,
    "expires_at" BIGINT,
    "in_flight" INTEGER NOT NULL DEFAULT 0,
    "in_flight_until" BIGINT NOT NULL DEFAULT 0
);

-- CreateTable
CREATE TABLE "groups" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL,
    "name_key" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "accepts_requests" BOOLEAN NOT NULL DEFAULT false,
    "source" TEXT NOT NULL DEFAULT 'local',
    "file_members" BOOLEAN NOT NULL DEFAULT false,
    "mac" TEXT NOT NULL DEFAULT '',
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" DATETIME NOT NULL
);

-- CreateTable
CREATE TABLE "group_members" (
    "group_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "since" DATETIME,
    "until" DATETIME,
    "notice" TEXT NOT NULL DEFAULT '',
    "added_by" TEXT,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "mac" TEXT NOT NULL DEFAULT '',

    PRIMARY KEY ("group_id", "user_id", "source"),
    CONSTRAINT "group_members_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "group_members_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "group_children" (
    "parent_id" TEXT NOT NULL,
    "child_id" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',

    PRIMARY KEY ("parent_id", "child_id"),
    CONSTRAINT "group_children_parent_id_fkey" FOREIGN KEY ("parent_id") REFERENCES "groups" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "group_children_child_id_fkey" FOREIGN KEY ("child_id") REFERENCES "groups" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "group_ancestors" (
    "group_id" TEXT NOT NULL,
    "ancestor_id" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',

    PRIMARY KEY ("group_id", "ancestor_id"),
    CONSTRAINT "group_ancestors_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "group_ancestors_ancestor_id_fkey" FOREIGN KEY ("ancestor_id") REFERENCES "groups" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "group_roles" (
    "group_id" TEXT NOT NULL,
    "role_id" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',

    PRIMARY KEY ("group_id", "role_id"),
    CONSTRAINT "group_roles_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "group_roles_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "roles" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "group_owners" (
    "group_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "until" DATETIME,
    "covers" TEXT NOT NULL,
    "deputy_of" TEXT,
    "appointed_by" TEXT,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "mac" TEXT NOT NULL DEFAULT '',

    PRIMARY KEY ("group_id", "user_id"),
    CONSTRAINT "group_owners_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "group_owners_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "group_owners_deputy_of_fkey" FOREIGN KEY ("deputy_of") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "group_domains" (
    "group_id" TEXT NOT NULL,
    "domain" TEXT NOT NULL,
    "challenge" TEXT NOT NULL,
    "proven_at" DATETIME,
    "checked_at" DATETIME,
    "mac" TEXT NOT NULL DEFAULT '',

    PRIMARY KEY ("group_id", "domain"),
    CONSTRAINT "group_domains_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "group_requests" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "group_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "application_id" TEXT,
    "reason" TEXT NOT NULL,
    "until" DATETIME,
    "state" TEXT NOT NULL DEFAULT 'open',
    "answer" TEXT NOT NULL DEFAULT '',
    "decided_by" TEXT,
    "decided_at" DATETIME,
    "created_at" DATETIME NOT NULL,
    "expires_at" DATETIME NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',
    CONSTRAINT "group_requests_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "group_requests_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "group_invitations" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "group_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "email_key" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "until" DATETIME,
    "invited_by" TEXT NOT NULL,
    "accepted_by" TEXT,
    "accepted_at" DATETIME,
    "created_at" DATETIME NOT NULL,
    "expires_at" DATETIME NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',
    CONSTRAINT "group_invitations_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "bulk_changes" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "kind" TEXT NOT NULL,
    "group_id" TEXT,
    "by" TEXT NOT NULL,
    "actor" TEXT NOT NULL DEFAULT '',
    "options" TEXT NOT NULL DEFAULT '',
    "counts" TEXT NOT NULL DEFAULT '',
    "total" INTEGER NOT NULL,
    "done" INTEGER NOT NULL DEFAULT 0,
    "changed" INTEGER NOT NULL DEFAULT 0,
    "state" TEXT NOT NULL,
    "error" TEXT,
    "created_at" DATETIME NOT NULL,
    "ended_at" DATETIME,
    "expires_at" DATETIME NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',
    CONSTRAINT "bulk_changes_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "bulk_change_pieces" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "change_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "members" TEXT NOT NULL DEFAULT '',
    "rows_sealed" TEXT NOT NULL DEFAULT '',
    "report_sealed" TEXT NOT NULL DEFAULT '',
    "mac" TEXT NOT NULL DEFAULT '',
    CONSTRAINT "bulk_change_pieces_change_id_fkey" FOREIGN KEY ("change_id") REFERENCES "bulk_changes" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "connection_group_mappings" (
    "connection_id" TEXT NOT NULL,
    "upstream_group" TEXT NOT NULL,
    "group_id" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',

    PRIMARY KEY ("connection_id", "upstream_group", "group_id"),
    CONSTRAINT "connection_group_mappings_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "connection_group_mappings_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "application_groups" (
    "application_id" TEXT NOT NULL,
    "group_id" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',

    PRIMARY KEY ("application_id", "group_id"),
    CONSTRAINT "application_groups_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "application_groups_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateIndex
CREATE INDEX "saml_metadata_application_id_idx" ON "saml_metadata"("application_id") WHERE "pending_xml" IS NOT NULL;

-- CreateIndex
CREATE INDEX "first_factor_approvals_requested_at_idx" ON "first_factor_approvals"("requested_at") WHERE "requested_at" IS NOT NULL;

-- CreateIndex
CREATE UNIQUE INDEX "users_username_key_key" ON "users"("username_key");

-- CreateIndex
CREATE UNIQUE INDEX "users_email_key_key" ON "users"("email_key");

-- CreateIndex
CREATE INDEX "users_created_at_id_is_enabled_source_search_key_idx" ON "users"("created_at", "id", "is_enabled", "source", "search_key");

-- CreateIndex
CREATE INDEX "users_is_enabled_created_at_id_idx" ON "users"("is_enabled", "created_at", "id");

-- CreateIndex
CREATE INDEX "users_last_seen_at_id_idx" ON "users"("last_seen_at", "id");

-- CreateIndex
CREATE INDEX "users_active_from_idx" ON "users"("active_from") WHERE "active_from" IS NOT NULL;

-- CreateIndex
CREATE INDEX "users_active_until_idx" ON "users"("active_until") WHERE "active_until" IS NOT NULL;

-- CreateIndex
CREATE INDEX "users_name_key_id_idx" ON "users"("name_key", "id");

-- CreateIndex
CREATE INDEX "users_last_name_key_id_idx" ON "users"("last_name_key", "id");

-- CreateIndex
CREATE INDEX "users_delete_at_idx" ON "users"("delete_at") WHERE "delete_at" IS NOT NULL;

-- CreateIndex
CREATE INDEX "users_terms_version_is_enabled_idx" ON "users"("terms_version", "is_enabled") WHERE "terms_version" IS NOT NULL;

-- CreateIndex
CREATE UNIQUE INDEX "user_pictures_name_key" ON "user_pictures"("name");

-- CreateIndex
CREATE INDEX "retired_subjects_retired_at_idx" ON "retired_subjects"("retired_at") WHERE "user_id" IS NOT NULL;

-- CreateIndex
CREATE INDEX "user_values_value_key_user_id_name_idx" ON "user_values"("value_key", "user_id", "name");

-- CreateIndex
CREATE INDEX "user_notes_user_id_created_at_idx" ON "user_notes"("user_id", "created_at");

-- CreateIndex
CREATE INDEX "api_keys_user_id_idx" ON "api_keys"("user_id");

-- CreateIndex
CREATE INDEX "api_keys_created_at_id_idx" ON "api_keys"("created_at", "id");

-- CreateIndex
CREATE INDEX "api_keys_expires_at_idx" ON "api_keys"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "app_passwords_secret_hash_key" ON "app_passwords"("secret_hash");

-- CreateIndex
CREATE INDEX "app_passwords_user_id_idx" ON "app_passwords"("user_id");

-- CreateIndex
CREATE INDEX "app_passwords_application_id_idx" ON "app_passwords"("application_id");

-- CreateIndex
CREATE UNIQUE INDEX "sign_up_codes_name_key" ON "sign_up_codes"("name");

-- CreateIndex
CREATE UNIQUE INDEX "sign_up_codes_code_hash_key" ON "sign_up_codes"("code_hash");

-- CreateIndex
CREATE INDEX "sign_up_codes_expires_at_idx" ON "sign_up_codes"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "saved_filters_user_id_name_key" ON "saved_filters"("user_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "roles_name_key" ON "roles"("name");

-- CreateIndex
CREATE UNIQUE INDEX "permissions_resource_action_key" ON "permissions"("resource", "action");

-- CreateIndex
CREATE INDEX "user_roles_role_id_idx" ON "user_roles"("role_id");

-- CreateIndex
CREATE INDEX "role_permissions_permission_id_idx" ON "role_permissions"("permission_id");

-- CreateIndex
CREATE INDEX "password_credentials_kind_idx" ON "password_credentials"("kind");

-- CreateIndex
CREATE INDEX "passkeys_user_id_idx" ON "passkeys"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "recovery_codes_user_id_code_hash_key" ON "recovery_codes"("user_id", "code_hash");

-- CreateIndex
CREATE UNIQUE INDEX "password_reset_tokens_token_hash_key" ON "password_reset_tokens"("token_hash");

-- CreateIndex
CREATE INDEX "password_reset_tokens_user_id_idx" ON "password_reset_tokens"("user_id");

-- CreateIndex
CREATE INDEX "password_reset_tokens_expires_at_idx" ON "password_reset_tokens"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "mail_tokens_token_hash_key" ON "mail_tokens"("token_hash");

-- CreateIndex
CREATE INDEX "mail_tokens_user_id_purpose_idx" ON "mail_tokens"("user_id", "purpose");

-- CreateIndex
CREATE INDEX "mail_tokens_expires_at_idx" ON "mail_tokens"("expires_at");

-- CreateIndex
CREATE INDEX "mail_tokens_purpose_used_at_expires_at_idx" ON "mail_tokens"("purpose", "used_at", "expires_at");

-- CreateIndex
CREATE INDEX "one_time_codes_user_id_idx" ON "one_time_codes"("user_id");

-- CreateIndex
CREATE INDEX "one_time_codes_expires_at_idx" ON "one_time_codes"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "known_browsers_token_hash_key" ON "known_browsers"("token_hash");

-- CreateIndex
CREATE INDEX "known_browsers_user_id_idx" ON "known_browsers"("user_id");

-- CreateIndex
CREATE INDEX "known_browsers_expires_at_idx" ON "known_browsers"("expires_at");

-- CreateIndex
CREATE INDEX "connections_position_id_idx" ON "connections"("position", "id");

-- CreateIndex
CREATE INDEX "connection_secrets_connection_id_idx" ON "connection_secrets"("connection_id");

-- CreateIndex
CREATE INDEX "connection_documents_next_read_at_idx" ON "connection_documents"("next_read_at");

-- CreateIndex
CREATE INDEX "connection_domains_connection_id_idx" ON "connection_domains"("connection_id");

-- CreateIndex
CREATE INDEX "connection_role_mappings_role_id_idx" ON "connection_role_mappings"("role_id");

-- CreateIndex
CREATE INDEX "external_identities_user_id_idx" ON "external_identities"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "external_identities_connection_id_subject_key" ON "external_identities"("connection_id", "subject");

-- CreateIndex
CREATE UNIQUE INDEX "upstream_requests_answer_id_key" ON "upstream_requests"("answer_id");

-- CreateIndex
CREATE INDEX "upstream_requests_expires_at_idx" ON "upstream_requests"("expires_at");

-- CreateIndex
CREATE INDEX "upstream_sessions_session_uid_idx" ON "upstream_sessions"("session_uid");

-- CreateIndex
CREATE INDEX "upstream_sessions_connection_id_subject_idx" ON "upstream_sessions"("connection_id", "subject");

-- CreateIndex
CREATE INDEX "upstream_sessions_connection_id_sid_idx" ON "upstream_sessions"("connection_id", "sid");

-- CreateIndex
CREATE INDEX "upstream_sessions_connection_id_name_id_hash_idx" ON "upstream_sessions"("connection_id", "name_id_hash");

-- CreateIndex
CREATE INDEX "upstream_sessions_user_id_idx" ON "upstream_sessions"("user_id");

-- CreateIndex
CREATE INDEX "upstream_sessions_expires_at_idx" ON "upstream_sessions"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "applications_client_id_key" ON "applications"("client_id");

-- CreateIndex
CREATE INDEX "applications_protocol_name_key_id_idx" ON "applications"("protocol", "name_key", "id");

-- CreateIndex
CREATE INDEX "applications_name_key_id_idx" ON "applications"("name_key", "id");

-- CreateIndex
CREATE INDEX "applications_ask_group_idx" ON "applications"("id") WHERE metadata LIKE '%"ask_group":true%';

-- CreateIndex
CREATE INDEX "applications_contacts_idx" ON "applications"("id") WHERE metadata LIKE '%"contacts":["%';

-- CreateIndex
CREATE INDEX "applications_provision_idx" ON "applications"("id") WHERE metadata LIKE '%"provision":{%';

-- CreateIndex
CREATE INDEX "applications_without_pkce_idx" ON "applications"("id") WHERE metadata LIKE '%"require_pkce":false%';

-- CreateIndex
CREATE INDEX "application_pictures_next_try_at_idx" ON "application_pictures"("next_try_at");

-- CreateIndex
CREATE INDEX "application_pictures_name_idx" ON "application_pictures"("name");

-- CreateIndex
CREATE INDEX "application_roles_role_id_idx" ON "application_roles"("role_id");

-- CreateIndex
CREATE INDEX "client_secrets_application_id_idx" ON "client_secrets"("application_id");

-- CreateIndex
CREATE INDEX "oidc_artifacts_grant_id_idx" ON "oidc_artifacts"("grant_id") WHERE "grant_id" IS NOT NULL;

-- CreateIndex
CREATE INDEX "oidc_artifacts_user_code_idx" ON "oidc_artifacts"("user_code") WHERE "user_code" IS NOT NULL;

-- CreateIndex
CREATE INDEX "oidc_artifacts_uid_model_idx" ON "oidc_artifacts"("uid", "model") WHERE "uid" IS NOT NULL;

-- CreateIndex
CREATE INDEX "oidc_artifacts_account_id_model_expires_at_idx" ON "oidc_artifacts"("account_id", "model", "expires_at") WHERE "account_id" IS NOT NULL;

-- CreateIndex
CREATE INDEX "oidc_artifacts_expires_at_idx" ON "oidc_artifacts"("expires_at");

-- CreateIndex
CREATE INDEX "consents_application_id_idx" ON "consents"("application_id");

-- CreateIndex
CREATE UNIQUE INDEX "consents_user_id_application_id_key" ON "consents"("user_id", "application_id");

-- CreateIndex
CREATE INDEX "application_users_user_id_idx" ON "application_users"("user_id");

-- CreateIndex
CREATE INDEX "sign_in_attempts_expires_at_idx" ON "sign_in_attempts"("expires_at");

-- CreateIndex
CREATE INDEX "session_devices_user_id_idx" ON "session_devices"("user_id");

-- CreateIndex
CREATE INDEX "session_devices_created_at_uid_idx" ON "session_devices"("created_at", "uid");

-- CreateIndex
CREATE INDEX "session_devices_expires_at_idx" ON "session_devices"("expires_at");

-- CreateIndex
CREATE INDEX "rp_sessions_user_id_idx" ON "rp_sessions"("user_id");

-- CreateIndex
CREATE INDEX "rp_sessions_expires_at_idx" ON "rp_sessions"("expires_at");

-- CreateIndex
CREATE INDEX "stored_forms_user_id_idx" ON "stored_forms"("user_id");

-- CreateIndex
CREATE INDEX "stored_forms_expires_at_idx" ON "stored_forms"("expires_at");

-- CreateIndex
CREATE INDEX "saml_requests_expires_at_idx" ON "saml_requests"("expires_at");

-- CreateIndex
CREATE INDEX "seen_messages_expires_at_idx" ON "seen_messages"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "saml_name_ids_value_key" ON "saml_name_ids"("value");

-- CreateIndex
CREATE INDEX "saml_name_ids_application_id_idx" ON "saml_name_ids"("application_id");

-- CreateIndex
CREATE UNIQUE INDEX "saml_name_ids_user_id_application_id_key" ON "saml_name_ids"("user_id", "application_id");

-- CreateIndex
CREATE INDEX "saml_participants_application_id_name_id_idx" ON "saml_participants"("application_id", "name_id");

-- CreateIndex
CREATE INDEX "saml_participants_user_id_idx" ON "saml_participants"("user_id");

-- CreateIndex
CREATE INDEX "saml_participants_expires_at_idx" ON "saml_participants"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "saml_participants_session_uid_application_id_session_index_key" ON "saml_participants"("session_uid", "application_id", "session_index");

-- CreateIndex
CREATE INDEX "signing_keys_use_state_idx" ON "signing_keys"("use", "state");

-- CreateIndex
CREATE UNIQUE INDEX "data_keys_purpose_generation_key" ON "data_keys"("purpose", "generation");

-- CreateIndex
CREATE INDEX "mail_messages_sent_at_failed_at_next_try_at_idx" ON "mail_messages"("sent_at", "failed_at", "next_try_at");

-- CreateIndex
CREATE INDEX "mail_messages_user_id_created_at_idx" ON "mail_messages"("user_id", "created_at");

-- CreateIndex
CREATE INDEX "mail_messages_created_at_id_sent_at_failed_at_idx" ON "mail_messages"("created_at", "id", "sent_at", "failed_at");

-- CreateIndex
CREATE INDEX "mail_messages_failed_at_idx" ON "mail_messages"("failed_at");

-- CreateIndex
CREATE INDEX "logout_deliveries_done_at_failed_at_next_try_at_idx" ON "logout_deliveries"("done_at", "failed_at", "next_try_at");

-- CreateIndex
CREATE INDEX "logout_runs_finished_at_seen_at_idx" ON "logout_runs"("finished_at", "seen_at");

-- CreateIndex
CREATE INDEX "logout_runs_expires_at_idx" ON "logout_runs"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "logout_participants_message_id_key" ON "logout_participants"("message_id");

-- CreateIndex
CREATE INDEX "logout_participants_run_id_idx" ON "logout_participants"("run_id");

-- CreateIndex
CREATE UNIQUE INDEX "audit_events_chain_seq_key" ON "audit_events"("chain_seq");

-- CreateIndex
CREATE INDEX "audit_events_at_idx" ON "audit_events"("at");

-- CreateIndex
CREATE INDEX "audit_events_actor_id_id_idx" ON "audit_events"("actor_id", "id");

-- CreateIndex
CREATE INDEX "audit_events_actor_app_id_idx" ON "audit_events"("actor_app", "id") WHERE "actor_app" IS NOT NULL;

-- CreateIndex
CREATE INDEX "audit_events_subject_id_id_idx" ON "audit_events"("subject_id", "id");

-- CreateIndex
CREATE INDEX "audit_events_client_id_id_idx" ON "audit_events"("client_id", "id");

-- CreateIndex
CREATE INDEX "audit_events_address_id_idx" ON "audit_events"("address", "id");

-- CreateIndex
CREATE INDEX "audit_events_request_id_idx" ON "audit_events"("request_id");

-- CreateIndex
CREATE INDEX "audit_events_type_id_idx" ON "audit_events"("type", "id");

-- CreateIndex
CREATE INDEX "audit_events_type_at_outcome_client_id_idx" ON "audit_events"("type", "at", "outcome", "client_id");

-- CreateIndex
CREATE INDEX "rejections_at_id_idx" ON "rejections"("at", "id");

-- CreateIndex
CREATE INDEX "rejections_client_id_at_idx" ON "rejections"("client_id", "at");

-- CreateIndex
CREATE INDEX "rejections_subject_id_at_idx" ON "rejections"("subject_id", "at");

-- CreateIndex
CREATE INDEX "rejections_request_id_idx" ON "rejections"("request_id");

-- CreateIndex
CREATE INDEX "rejections_expires_at_idx" ON "rejections"("expires_at");

-- CreateIndex
CREATE INDEX "idempotency_keys_expires_at_idx" ON "idempotency_keys"("expires_at");

-- CreateIndex
CREATE INDEX "rate_limits_expires_at_idx" ON "rate_limits"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "groups_name_key_key" ON "groups"("name_key");

-- CreateIndex
CREATE INDEX "group_members_user_id_idx" ON "group_members"("user_id");

-- CreateIndex
CREATE INDEX "group_members_source_user_id_idx" ON "group_members"("source", "user_id") WHERE "source" != 'direct';

-- CreateIndex
CREATE INDEX "group_members_until_idx" ON "group_members"("until") WHERE "until" IS NOT NULL;

-- CreateIndex
CREATE INDEX "group_members_since_idx" ON "group_members"("since") WHERE "since" IS NOT NULL;

-- CreateIndex
CREATE INDEX "group_children_child_id_idx" ON "group_children"("child_id");

-- CreateIndex
CREATE INDEX "group_ancestors_ancestor_id_idx" ON "group_ancestors"("ancestor_id");

-- CreateIndex
CREATE INDEX "group_roles_role_id_idx" ON "group_roles"("role_id");

-- CreateIndex
CREATE INDEX "group_owners_user_id_idx" ON "group_owners"("user_id");

-- CreateIndex
CREATE INDEX "group_owners_deputy_of_idx" ON "group_owners"("deputy_of") WHERE "deputy_of" IS NOT NULL;

-- CreateIndex
CREATE INDEX "group_owners_until_idx" ON "group_owners"("until") WHERE "until" IS NOT NULL;

-- CreateIndex
CREATE INDEX "group_domains_domain_idx" ON "group_domains"("domain");

-- CreateIndex
CREATE INDEX "group_requests_group_id_state_created_at_idx" ON "group_requests"("group_id", "state", "created_at");

-- CreateIndex
CREATE INDEX "group_requests_user_id_idx" ON "group_requests"("user_id");

-- CreateIndex
CREATE INDEX "group_requests_expires_at_idx" ON "group_requests"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "group_invitations_token_hash_key" ON "group_invitations"("token_hash");

-- CreateIndex
CREATE INDEX "group_invitations_group_id_idx" ON "group_invitations"("group_id");

-- CreateIndex
CREATE INDEX "group_invitations_email_key_idx" ON "group_invitations"("email_key");

-- CreateIndex
CREATE INDEX "group_invitations_invited_by_idx" ON "group_invitations"("invited_by");

-- CreateIndex
CREATE INDEX "group_invitations_expires_at_idx" ON "group_invitations"("expires_at");

-- CreateIndex
CREATE INDEX "bulk_changes_group_id_created_at_idx" ON "bulk_changes"("group_id", "created_at");

-- CreateIndex
CREATE INDEX "bulk_changes_state_created_at_idx" ON "bulk_changes"("state", "created_at");

-- CreateIndex
CREATE INDEX "bulk_changes_actor_created_at_idx" ON "bulk_changes"("actor", "created_at");

-- CreateIndex
CREATE INDEX "bulk_changes_expires_at_idx" ON "bulk_changes"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "bulk_change_pieces_change_id_position_key" ON "bulk_change_pieces"("change_id", "position");

-- CreateIndex
CREATE INDEX "connection_group_mappings_group_id_idx" ON "connection_group_mappings"("group_id");

-- CreateIndex
CREATE INDEX "application_groups_group_id_idx" ON "application_groups"("group_id");

-- CreateIndex
CREATE INDEX "user_roles_until_idx" ON "user_roles"("until") WHERE "until" IS NOT NULL;

-- CreateIndex
CREATE INDEX "user_roles_since_idx" ON "user_roles"("since") WHERE "since" IS NOT NULL;

-- Each change of the directory stores another number, so that every process on this file sees whether what it has cached is current. The number
-- is random, because a count could repeat itself in a restored file. A migration that redefines one of these tables drops its triggers and has to
-- create them again (test/storage/directory-cache.test.ts).
CREATE TRIGGER "directory_changed_users_insert" AFTER INSERT ON "users" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
-- Not when the account was used last (src/people/accounts/seen.ts), which no cache has to know at once.
CREATE TRIGGER "directory_changed_users_update" AFTER UPDATE ON "users"
  WHEN OLD.last_seen_at = NEW.last_seen_at OR OLD.mac <> NEW.mac BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_users_delete" AFTER DELETE ON "users" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_roles_insert" AFTER INSERT ON "roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_roles_update" AFTER UPDATE ON "roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_roles_delete" AFTER DELETE ON "roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_permissions_insert" AFTER INSERT ON "permissions" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_permissions_update" AFTER UPDATE ON "permissions" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_permissions_delete" AFTER DELETE ON "permissions" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_user_roles_insert" AFTER INSERT ON "user_roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_user_roles_update" AFTER UPDATE ON "user_roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_user_roles_delete" AFTER DELETE ON "user_roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_role_permissions_insert" AFTER INSERT ON "role_permissions" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_role_permissions_update" AFTER UPDATE ON "role_permissions" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_role_permissions_delete" AFTER DELETE ON "role_permissions" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_applications_insert" AFTER INSERT ON "applications" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_applications_update" AFTER UPDATE ON "applications" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_applications_delete" AFTER DELETE ON "applications" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_application_roles_insert" AFTER INSERT ON "application_roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_application_roles_update" AFTER UPDATE ON "application_roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_application_roles_delete" AFTER DELETE ON "application_roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_client_secrets_insert" AFTER INSERT ON "client_secrets" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_client_secrets_update" AFTER UPDATE ON "client_secrets" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_client_secrets_delete" AFTER DELETE ON "client_secrets" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connections_insert" AFTER INSERT ON "connections" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connections_update" AFTER UPDATE ON "connections" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connections_delete" AFTER DELETE ON "connections" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_secrets_insert" AFTER INSERT ON "connection_secrets" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_secrets_update" AFTER UPDATE ON "connection_secrets" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_secrets_delete" AFTER DELETE ON "connection_secrets" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_documents_insert" AFTER INSERT ON "connection_documents" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_documents_update" AFTER UPDATE ON "connection_documents" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_documents_delete" AFTER DELETE ON "connection_documents" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_domains_insert" AFTER INSERT ON "connection_domains" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_domains_update" AFTER UPDATE ON "connection_domains" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_domains_delete" AFTER DELETE ON "connection_domains" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_role_mappings_insert" AFTER INSERT ON "connection_role_mappings" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_role_mappings_update" AFTER UPDATE ON "connection_role_mappings" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_role_mappings_delete" AFTER DELETE ON "connection_role_mappings" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_application_pictures_insert" AFTER INSERT ON "application_pictures" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_application_pictures_update" AFTER UPDATE ON "application_pictures" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_application_pictures_delete" AFTER DELETE ON "application_pictures" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_groups_insert" AFTER INSERT ON "groups" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_groups_update" AFTER UPDATE ON "groups" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_groups_delete" AFTER DELETE ON "groups" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_group_members_insert" AFTER INSERT ON "group_members" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_group_members_update" AFTER UPDATE ON "group_members" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_group_members_delete" AFTER DELETE ON "group_members" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_group_ancestors_insert" AFTER INSERT ON "group_ancestors" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_group_ancestors_update" AFTER UPDATE ON "group_ancestors" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_group_ancestors_delete" AFTER DELETE ON "group_ancestors" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_group_roles_insert" AFTER INSERT ON "group_roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_group_roles_update" AFTER UPDATE ON "group_roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_group_roles_delete" AFTER DELETE ON "group_roles" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_application_groups_insert" AFTER INSERT ON "application_groups" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_application_groups_update" AFTER UPDATE ON "application_groups" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_application_groups_delete" AFTER DELETE ON "application_groups" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_group_mappings_insert" AFTER INSERT ON "connection_group_mappings" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_group_mappings_update" AFTER UPDATE ON "connection_group_mappings" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER "directory_changed_connection_group_mappings_delete" AFTER DELETE ON "connection_group_mappings" BEGIN
  INSERT INTO directory_revisions (shard, revision) VALUES (0, random() >> 11) ON CONFLICT (shard) DO UPDATE SET revision = excluded.revision;
END;

-- CreateTable
CREATE TABLE "scim_connections" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL,
    "source" TEXT NOT NULL DEFAULT 'local',
    "client_id" TEXT,
    "owned_domains" TEXT NOT NULL,
    "adopt" TEXT NOT NULL,
    "may_create" BOOLEAN NOT NULL,
    "delete_policy" TEXT NOT NULL,
    "mappings" TEXT NOT NULL,
    "removed_at" DATETIME,
    "mac" TEXT NOT NULL DEFAULT '',
    "is_applied" BOOLEAN NOT NULL DEFAULT true,
    "created_at" DATETIME NOT NULL,
    "updated_at" DATETIME NOT NULL,
    "last_request_at" DATETIME
);

-- CreateTable
CREATE TABLE "scim_tokens" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "connection_id" TEXT NOT NULL,
    "secret_hash" TEXT NOT NULL,
    "last_four" TEXT NOT NULL,
    "source" TEXT NOT NULL DEFAULT 'local',
    "created_at" DATETIME NOT NULL,
    "expires_at" DATETIME,
    "mac" TEXT NOT NULL DEFAULT '',
    "last_used_at" DATETIME,
    CONSTRAINT "scim_tokens_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "scim_connections" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "scim_users" (
    "user_id" TEXT NOT NULL PRIMARY KEY,
    "connection_id" TEXT NOT NULL,
    "external_id" TEXT,
    "content" TEXT NOT NULL,
    "deleted_at" DATETIME,
    "mac" TEXT NOT NULL DEFAULT '',
    "created_at" DATETIME NOT NULL,
    "updated_at" DATETIME NOT NULL,
    CONSTRAINT "scim_users_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "scim_users_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "scim_connections" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "scim_groups" (
    "group_id" TEXT NOT NULL PRIMARY KEY,
    "connection_id" TEXT NOT NULL,
    "external_id" TEXT,
    "content" TEXT NOT NULL,
    "is_own" BOOLEAN NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',
    "display_key" TEXT NOT NULL,
    "created_at" DATETIME NOT NULL,
    "updated_at" DATETIME NOT NULL,
    CONSTRAINT "scim_groups_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "scim_groups_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "scim_connections" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateIndex
CREATE UNIQUE INDEX "scim_connections_name_key" ON "scim_connections"("name") WHERE "removed_at" IS NULL;

-- CreateIndex
CREATE UNIQUE INDEX "scim_connections_client_id_key" ON "scim_connections"("client_id");

-- CreateIndex
CREATE INDEX "scim_tokens_connection_id_idx" ON "scim_tokens"("connection_id");

-- CreateIndex
CREATE INDEX "scim_tokens_expires_at_idx" ON "scim_tokens"("expires_at");

-- CreateIndex
CREATE INDEX "scim_users_connection_id_created_at_user_id_idx" ON "scim_users"("connection_id", "created_at", "user_id") WHERE "deleted_at" IS NULL;

-- CreateIndex
CREATE INDEX "scim_users_deleted_at_idx" ON "scim_users"("deleted_at") WHERE "deleted_at" IS NOT NULL;

-- CreateIndex
CREATE UNIQUE INDEX "scim_users_connection_id_external_id_key" ON "scim_users"("connection_id", "external_id");

-- CreateIndex
CREATE INDEX "scim_groups_connection_id_created_at_group_id_idx" ON "scim_groups"("connection_id", "created_at", "group_id");

-- CreateIndex
CREATE INDEX "scim_groups_connection_id_display_key_idx" ON "scim_groups"("connection_id", "display_key");

-- CreateIndex
CREATE UNIQUE INDEX "scim_groups_connection_id_external_id_key" ON "scim_groups"("connection_id", "external_id");

-- CreateTable
CREATE TABLE "event_streams" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "format" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "events" TEXT NOT NULL,
    "applications" TEXT NOT NULL,
    "groups" TEXT NOT NULL,
    "at_least" INTEGER NOT NULL,
    "within_minutes" INTEGER NOT NULL,
    "quiet_minutes" INTEGER NOT NULL,
    "enabled" BOOLEAN NOT NULL,
    "receiver" TEXT NOT NULL DEFAULT '',
    "source" TEXT NOT NULL DEFAULT 'local',
    "secret_sealed" TEXT,
    "previous_secret_sealed" TEXT,
    "previous_until" DATETIME,
    "mac" TEXT NOT NULL DEFAULT '',
    "created_at" DATETIME NOT NULL,
    "updated_at" DATETIME NOT NULL,
    "cursor" INTEGER NOT NULL,
    "last_seq" INTEGER,
    "replay_cursor" INTEGER,
    "replay_until" INTEGER,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "failing_since" DATETIME,
    "retry_at" DATETIME,
    "paused_at" DATETIME,
    "last_error" TEXT,
    "last_success_at" DATETIME
);

-- CreateTable
CREATE TABLE "event_deliveries" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "stream_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "until_seq" INTEGER NOT NULL,
    "after_seq" INTEGER,
    "positions" TEXT,
    "is_replay" BOOLEAN NOT NULL DEFAULT false,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "next_try_at" DATETIME NOT NULL,
    "done_at" DATETIME,
    "failed_at" DATETIME,
    "last_error" TEXT,
    "answer" TEXT,
    "created_at" DATETIME NOT NULL,
    CONSTRAINT "event_deliveries_stream_id_fkey" FOREIGN KEY ("stream_id") REFERENCES "event_streams" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateIndex
CREATE UNIQUE INDEX "event_streams_name_key" ON "event_streams"("name");

-- CreateIndex
CREATE INDEX "event_deliveries_stream_id_seq_idx" ON "event_deliveries"("stream_id", "seq");

-- CreateIndex
CREATE INDEX "event_deliveries_done_at_failed_at_next_try_at_idx" ON "event_deliveries"("done_at", "failed_at", "next_try_at");

-- CreateTable
CREATE TABLE "provisioning_tokens" (
    "application_id" TEXT NOT NULL PRIMARY KEY,
    "token_sealed" TEXT NOT NULL,
    "updated_at" DATETIME NOT NULL,
    CONSTRAINT "provisioning_tokens_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "provisioning_targets" (
    "application_id" TEXT NOT NULL PRIMARY KEY,
    "url" TEXT NOT NULL,
    "audit_seq" INTEGER NOT NULL,
    "looked_at" DATETIME NOT NULL,
    "compare_at" DATETIME,
    "position" TEXT,
    "compared_at" DATETIME,
    "compare_seconds" INTEGER NOT NULL DEFAULT 0,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "failing_since" DATETIME,
    "retry_at" DATETIME,
    "last_error" TEXT,
    "paused_at" DATETIME,
    "paused_by" TEXT,
    "stopped_at" DATETIME,
    "approved_at" DATETIME
);

-- CreateTable
CREATE TABLE "provisioned_objects" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "application_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "local_id" TEXT NOT NULL,
    "remote_id" TEXT,
    "mac" TEXT NOT NULL DEFAULT '',
    "accepted" TEXT NOT NULL DEFAULT '{}',
    "is_active" BOOLEAN NOT NULL DEFAULT false,
    "pending" TEXT NOT NULL DEFAULT '',
    "is_held" BOOLEAN NOT NULL DEFAULT false,
    "version" INTEGER NOT NULL DEFAULT 0,
    "claimed_until" DATETIME,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "next_try_at" DATETIME NOT NULL,
    "last_error" TEXT,
    "sent_at" DATETIME,
    "left_at" DATETIME
);

-- CreateTable
CREATE TABLE "provisioned_members" (
    "application_id" TEXT NOT NULL,
    "group_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "state" TEXT NOT NULL,

    PRIMARY KEY ("application_id", "group_id", "user_id")
);

-- CreateIndex
CREATE INDEX "provisioned_objects_application_id_kind_next_try_at_idx" ON "provisioned_objects"("application_id", "kind", "next_try_at") WHERE "pending" != '';

-- CreateIndex
CREATE INDEX "provisioned_objects_application_id_id_idx" ON "provisioned_objects"("application_id", "id");

-- CreateIndex
CREATE INDEX "provisioned_objects_application_id_kind_is_held_is_active_idx" ON "provisioned_objects"("application_id", "kind", "is_held", "is_active");

-- CreateIndex
CREATE UNIQUE INDEX "provisioned_objects_application_id_kind_local_id_key" ON "provisioned_objects"("application_id", "kind", "local_id");

-- CreateIndex
CREATE INDEX "provisioned_members_application_id_user_id_idx" ON "provisioned_members"("application_id", "user_id");

-- CreateIndex
CREATE INDEX "provisioned_members_application_id_group_id_state_idx" ON "provisioned_members"("application_id", "group_id", "state");

-- CreateTable
CREATE TABLE "scim_addresses" (
    "user_id" TEXT NOT NULL,
    "value_key" TEXT NOT NULL,

    PRIMARY KEY ("user_id", "value_key"),
    CONSTRAINT "scim_addresses_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "scim_users" ("user_id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateIndex
CREATE INDEX "scim_addresses_value_key_idx" ON "scim_addresses"("value_key");
