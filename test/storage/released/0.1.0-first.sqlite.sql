CREATE TABLE "_prisma_migrations" (
    "id"                    TEXT PRIMARY KEY NOT NULL,
    "checksum"              TEXT NOT NULL,
    "finished_at"           DATETIME,
    "migration_name"        TEXT NOT NULL,
    "logs"                  TEXT,
    "rolled_back_at"        DATETIME,
    "started_at"            DATETIME NOT NULL DEFAULT current_timestamp,
    "applied_steps_count"   INTEGER UNSIGNED NOT NULL DEFAULT 0
);
INSERT INTO "_prisma_migrations" VALUES('385972e3-9f74-468e-8182-6c001df92293','f4563fc438b4239bd35c69e4da8f6ecf896abbc5c6a1e07d66c6cbecfb3bb9dc','2026-11-23T02:38:42.338+00:00','20261121091642_init',NULL,NULL,'2026-11-23T02:38:42.333+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('826b3498-3c03-49db-a0ff-49dbcd5c5435','f6f216566691f838e9099be6bc6a62592e9ec8a88d4881307636cfda0a92f195','2026-11-23T02:38:42.342+00:00','20261121102220_lean_artifacts',NULL,NULL,'2026-11-23T02:38:42.339+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('fca6941d-ae71-426d-99e8-6774634a33c7','737ba1f1cfff01dc9bc34ca35bd6ea9081939f2de4132cb5e7f11b97d9680a8e','2026-11-23T02:38:42.344+00:00','20261121102420_audit_chain_and_admin_api',NULL,NULL,'2026-11-23T02:38:42.342+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('6b38cb4d-7c4f-4cef-853d-cb8eb0df9e5f','dee26b57c213104fc5ef49e2cf173023d91f6fddb3362b5e2f757ae827508455','2026-11-23T02:38:42.346+00:00','20261121102726_logout_runs',NULL,NULL,'2026-11-23T02:38:42.344+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('97d03320-e36b-48e6-8f94-69389b3f4d3b','48aba72637ad82f2a976446adbb4803137b142baba323ed2b05a7a74e8d9503a','2026-11-23T02:38:42.351+00:00','20261121104606_phone_factor_and_verified_passkeys',NULL,NULL,'2026-11-23T02:38:42.346+00:00',1);
CREATE TABLE "application_roles" (
    "application_id" TEXT NOT NULL,
    "role_id" TEXT NOT NULL,

    PRIMARY KEY ("application_id", "role_id"),
    CONSTRAINT "application_roles_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "application_roles_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "roles" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
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
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" DATETIME NOT NULL
);
INSERT INTO "applications" VALUES('CUOtdJpqfD6rGUE4eqS3fb_Y','shop','oidc','Shop',1,'implicit','everyone','{"application_type":"web","redirect_uris":["http://127.0.0.1:4000/cb"],"post_logout_redirect_uris":[],"grant_types":["authorization_code","refresh_token"],"token_endpoint_auth_method":"client_secret_basic","id_token_signed_response_alg":"RS256","subject_type":"public","response_types":["code"]}','local','2026-11-23T02:38:53.661+00:00','2026-11-23T02:38:53.661+00:00');
INSERT INTO "applications" VALUES('nTnT6pp-Y8EWPIgjPoThfU-8','https://wiki.example/metadata','saml','Wiki',1,'implicit','everyone','{"attributes":{},"sign":"assertion","encrypt_assertion":"auto","idp_initiated":false,"allow_sha1":false,"metadata_xml":"<md:EntityDescriptor xmlns:md=\"urn:oasis:names:tc:SAML:2.0:metadata\" entityID=\"https://wiki.example/metadata\"><md:SPSSODescriptor protocolSupportEnumeration=\"urn:oasis:names:tc:SAML:2.0:protocol\" WantAssertionsSigned=\"true\"><md:AssertionConsumerService index=\"0\" isDefault=\"true\" Binding=\"urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST\" Location=\"http://127.0.0.1:4100/acs\"/></md:SPSSODescriptor></md:EntityDescriptor>\n"}','local','2026-11-23T02:38:58.624+00:00','2026-11-23T02:38:58.624+00:00');
CREATE TABLE "audit_chain" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "seq" INTEGER NOT NULL,
    "hash" TEXT NOT NULL,
    "mac" TEXT NOT NULL
);
INSERT INTO "audit_chain" VALUES('head',11,'9c836a6923375f3236cb693b8941b2c5c8aa975684069e9ac22014c8fffe97a0','CcMjgDp3tIAq7YeGEmv-UYvAGt28ai3jkotAybOdCKw');
CREATE TABLE "audit_events" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "type" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "reason" TEXT,
    "actor_id" TEXT,
    "subject_id" TEXT,
    "client_id" TEXT,
    "address" TEXT,
    "user_agent" TEXT,
    "request_id" TEXT,
    "data" TEXT NOT NULL DEFAULT '{}'
, "actor_app" TEXT, "chain_hash" TEXT, "chain_seq" INTEGER);
INSERT INTO "audit_events" VALUES(1,'2026-11-23T02:38:43.094+00:00','role.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"name":"admin","permissions":["gatehouse.users:read","gatehouse.sessions:read","gatehouse.applications:read","gatehouse.roles:read","gatehouse.keys:read","gatehouse.audit:read","gatehouse.settings:read","gatehouse.mail:read","gatehouse.users:write","gatehouse.sessions:write","gatehouse.applications:write","gatehouse.roles:write","gatehouse.keys:write","gatehouse.audit:write","gatehouse.settings:write","gatehouse.mail:write","gatehouse.users:unlock","gatehouse.users:reset-factors","gatehouse.users:reset-password","gatehouse.sessions:end"]}',NULL,'0bc0f38325c338c1e7e63a0bc0cee31a0330365f7753aab37857c1391aebb7e4',1);
INSERT INTO "audit_events" VALUES(2,'2026-11-23T02:38:43.312+00:00','role.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"name":"auditor","permissions":["gatehouse.users:read","gatehouse.sessions:read","gatehouse.applications:read","gatehouse.roles:read","gatehouse.keys:read","gatehouse.audit:read","gatehouse.settings:read","gatehouse.mail:read"]}',NULL,'198db65bc6f1767441e6c36f3f7ab5b81bd9e310d0af3e6a68063c4a0d262311',2);
INSERT INTO "audit_events" VALUES(3,'2026-11-23T02:38:43.360+00:00','role.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"name":"support","permissions":["gatehouse.users:read","gatehouse.users:unlock","gatehouse.users:reset-factors","gatehouse.users:reset-password","gatehouse.sessions:read","gatehouse.sessions:end","gatehouse.audit:read"]}',NULL,'20d714c159ec1bbdf4aa5316bca9710d65def7b99d7387c1712554cb35ef51cd',3);
INSERT INTO "audit_events" VALUES(4,'2026-11-23T02:38:46.145+00:00','account.created','success',NULL,NULL,'lGU8xkfyqRuRbqdJXulbY9Gc',NULL,NULL,NULL,NULL,'{"name":"Ann Example","username":"ann","email":"ann@example.com","emailVerified":true}',NULL,'fec698b1b0ce4c9d49a91e741180ac35ccac9dd059273771c76e79bb61d25f40',4);
INSERT INTO "audit_events" VALUES(5,'2026-11-23T02:38:46.176+00:00','password.set','success',NULL,NULL,'lGU8xkfyqRuRbqdJXulbY9Gc',NULL,NULL,NULL,NULL,'{"mustChange":false}',NULL,'75555a1f6d2d7779de99469baa3b524d2e22108ca095888995ca8edb0ebc4a74',5);
INSERT INTO "audit_events" VALUES(6,'2026-11-23T02:38:50.211+00:00','account.created','success',NULL,NULL,'VkNtNBpv9P-36yd4iUOZbWnK',NULL,NULL,NULL,NULL,'{"name":"Root","username":"root","email":"root@example.com","emailVerified":false}',NULL,'4f507e02c1f2a319f60c7e0d265665508c12eb27f3ed93442e1fbba28b5ec7f6',6);
INSERT INTO "audit_events" VALUES(7,'2026-11-23T02:38:50.305+00:00','role.assigned','success',NULL,NULL,'VkNtNBpv9P-36yd4iUOZbWnK',NULL,NULL,NULL,NULL,'{"roleName":"admin"}',NULL,'151b80860c9f39a98b7b7b1eb245065c0b27a47c226489a25cb44a1255ef78c6',7);
INSERT INTO "audit_events" VALUES(8,'2026-11-23T02:38:50.359+00:00','password.set','success',NULL,NULL,'VkNtNBpv9P-36yd4iUOZbWnK',NULL,NULL,NULL,NULL,'{"mustChange":false}',NULL,'a043889aeb72743f5747afb0315c6a7743aca99360bb5a13c7c28467309f395b',8);
INSERT INTO "audit_events" VALUES(9,'2026-11-23T02:38:53.801+00:00','application.created','success',NULL,NULL,NULL,'shop',NULL,NULL,NULL,'{"name":"Shop","protocol":"oidc","source":"local"}',NULL,'73275a6665214493ec26336c219a71c711abb156ba4143b9b5f5a532937f302f',9);
INSERT INTO "audit_events" VALUES(10,'2026-11-23T02:38:58.776+00:00','application.created','success',NULL,NULL,NULL,'https://wiki.example/metadata',NULL,NULL,NULL,'{"name":"Wiki","protocol":"saml","source":"local"}',NULL,'58a2a364e0d7814afc367744f84d552f3b18870fca9dbd739b97c5534a5a3e06',10);
INSERT INTO "audit_events" VALUES(11,'2026-11-23T02:39:10.102+00:00','server.started','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"node":"v20.20.2"}',NULL,'9c836a6923375f3236cb693b8941b2c5c8aa975684069e9ac22014c8fffe97a0',11);
CREATE TABLE "client_secrets" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "application_id" TEXT NOT NULL,
    "secret_hash" TEXT,
    "secret_sealed" TEXT,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME,
    CONSTRAINT "client_secrets_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
INSERT INTO "client_secrets" VALUES('bEUpoj_5U3nk6Cu5SnGLRW1M','CUOtdJpqfD6rGUE4eqS3fb_Y','o8LIXBP_jNrJ4NFJ18eYsd5RKf59NnMOI3w1j8Hz4Ec',NULL,'2026-11-23T02:38:53.752+00:00',NULL);
CREATE TABLE "consents" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "application_id" TEXT NOT NULL,
    "granted" TEXT NOT NULL,
    "granted_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" DATETIME NOT NULL,
    CONSTRAINT "consents_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "consents_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE TABLE "idempotency_keys" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "request_hash" TEXT NOT NULL,
    "response_sealed" TEXT,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME NOT NULL
);
CREATE TABLE "job_locks" (
    "name" TEXT NOT NULL PRIMARY KEY,
    "holder" TEXT NOT NULL,
    "locked_until" DATETIME NOT NULL
);
INSERT INTO "job_locks" VALUES('keys','','2026-11-23T02:40:04.203+00:00');
INSERT INTO "job_locks" VALUES('logout-deliveries','','2026-11-23T02:39:19.867+00:00');
INSERT INTO "job_locks" VALUES('audit-retention','','2026-11-23T03:33:10.563+00:00');
INSERT INTO "job_locks" VALUES('saml-certificates','','2026-11-24T00:15:10.661+00:00');
INSERT INTO "job_locks" VALUES('audit-chain','','2026-11-23T02:39:20.499+00:00');
INSERT INTO "job_locks" VALUES('saml-metadata','','2026-11-24T00:15:11.025+00:00');
INSERT INTO "job_locks" VALUES('mail','','2026-11-23T02:39:21.159+00:00');
INSERT INTO "job_locks" VALUES('abandoned-sign-outs','','2026-11-23T02:39:38.747+00:00');
INSERT INTO "job_locks" VALUES('sweep','','2026-11-23T02:40:05.932+00:00');
CREATE TABLE "known_browsers" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "user_agent" TEXT,
    "address" TEXT,
    "trusted_until" DATETIME,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME NOT NULL,
    CONSTRAINT "known_browsers_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
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
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);
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
    CONSTRAINT "logout_participants_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "logout_runs" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
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
    "expires_at" DATETIME NOT NULL
);
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
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE "mail_tokens" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "data" TEXT NOT NULL DEFAULT '{}',
    "expires_at" DATETIME NOT NULL,
    "used_at" DATETIME,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "mail_tokens_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
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
    "expires_at" BIGINT
);
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
CREATE TABLE "passkeys" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "public_key" BLOB NOT NULL,
    "counter" BIGINT NOT NULL DEFAULT 0,
    "transports" TEXT NOT NULL DEFAULT '[]',
    "aaguid" TEXT,
    "backed_up" BOOLEAN NOT NULL DEFAULT false,
    "discoverable" BOOLEAN NOT NULL DEFAULT false,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" DATETIME, "user_verified" BOOLEAN NOT NULL DEFAULT false,
    CONSTRAINT "passkeys_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE TABLE "password_credentials" (
    "user_id" TEXT NOT NULL PRIMARY KEY,
    "hash" TEXT NOT NULL,
    "must_change" BOOLEAN NOT NULL DEFAULT false,
    "long" BOOLEAN NOT NULL DEFAULT false,
    "changed_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "password_credentials_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
INSERT INTO "password_credentials" VALUES('lGU8xkfyqRuRbqdJXulbY9Gc','$argon2id$v=19$m=19456,p=1,t=2$oH02Dq9i+6AIXDuly8ToSg$jbmWRCIKubO6JZrjsrbLZMjFPd6jQlE5P0VOPVK1uZo',0,1,'2026-11-23T02:38:46.153+00:00');
INSERT INTO "password_credentials" VALUES('VkNtNBpv9P-36yd4iUOZbWnK','$argon2id$v=19$m=19456,p=1,t=2$fZBN/Xx3KrqsR/hxVxElqg$AImGs93TNHWaHu9Q6QsTvQQLcIoQURbW91s5P760SOY',0,1,'2026-11-23T02:38:50.319+00:00');
CREATE TABLE "password_reset_tokens" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "expires_at" DATETIME NOT NULL,
    "used_at" DATETIME,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "password_reset_tokens_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE TABLE "permissions" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "resource" TEXT NOT NULL,
    "action" TEXT NOT NULL
);
INSERT INTO "permissions" VALUES('iQfnVm2CSHCytwGPtKalr971','gatehouse.users','read');
INSERT INTO "permissions" VALUES('vEnjc61oOUGYXo_1SKdrnlSq','gatehouse.sessions','read');
INSERT INTO "permissions" VALUES('VGlJcEvzSI6Jz8aafzDwBh9r','gatehouse.applications','read');
INSERT INTO "permissions" VALUES('ms1BlnoYF4JswmveIu0CdTQG','gatehouse.roles','read');
INSERT INTO "permissions" VALUES('yfnsl1q8x3DPOril2Gf5SSi6','gatehouse.keys','read');
INSERT INTO "permissions" VALUES('CxpyF59cA28DXlcHeGDEYyFZ','gatehouse.audit','read');
INSERT INTO "permissions" VALUES('xYDP_1fjuFZG9jAU2tpcebXQ','gatehouse.settings','read');
INSERT INTO "permissions" VALUES('6GBZ0Lbl8ujdlswxoOV_s_e4','gatehouse.mail','read');
INSERT INTO "permissions" VALUES('DwfBQBX4wohUtISGs94zTNxp','gatehouse.users','write');
INSERT INTO "permissions" VALUES('FkAmhdA7Q5roQLCCQSPsbqsb','gatehouse.sessions','write');
INSERT INTO "permissions" VALUES('BJcmMdze-y-umVoA3SyWMUvD','gatehouse.applications','write');
INSERT INTO "permissions" VALUES('DSiMu-asS-dBCXWi3fB3Zta3','gatehouse.roles','write');
INSERT INTO "permissions" VALUES('CqwD71QxTjVJQNxv7WtxdeY_','gatehouse.keys','write');
INSERT INTO "permissions" VALUES('JQcK1n09hJ9pm5DxKV-UkEBz','gatehouse.audit','write');
INSERT INTO "permissions" VALUES('xKaYxbsnkmJ7CbfBepLEAQKd','gatehouse.settings','write');
INSERT INTO "permissions" VALUES('_V-EktQlDNd75ISxay767pU6','gatehouse.mail','write');
INSERT INTO "permissions" VALUES('wrlARY79cgqNKaxTGing8uv-','gatehouse.users','unlock');
INSERT INTO "permissions" VALUES('2uo0XT41aFWcykZrSBJNXdOD','gatehouse.users','reset-factors');
INSERT INTO "permissions" VALUES('OZlGAzkXJDtdU9PD_J8z_L1e','gatehouse.users','reset-password');
INSERT INTO "permissions" VALUES('HLK-cgLBSts0mSV9fzBiSgbG','gatehouse.sessions','end');
CREATE TABLE "phone_factors" (
    "user_id" TEXT NOT NULL PRIMARY KEY,
    "number" TEXT NOT NULL,
    "confirmed_at" DATETIME NOT NULL,
    CONSTRAINT "phone_factors_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE TABLE "rate_limits" (
    "key" TEXT NOT NULL PRIMARY KEY,
    "points" INTEGER NOT NULL,
    "expires_at" BIGINT
);
CREATE TABLE "recovery_codes" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "code_hash" TEXT NOT NULL,
    "used_at" DATETIME,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "recovery_codes_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE TABLE "resources" (
    "identifier" TEXT NOT NULL PRIMARY KEY,
    "scopes" TEXT NOT NULL,
    "signing_alg" TEXT NOT NULL DEFAULT 'RS256',
    "source" TEXT NOT NULL DEFAULT 'local',
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE "retired_subjects" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "retired_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE "role_permissions" (
    "role_id" TEXT NOT NULL,
    "permission_id" TEXT NOT NULL,

    PRIMARY KEY ("role_id", "permission_id"),
    CONSTRAINT "role_permissions_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "roles" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "role_permissions_permission_id_fkey" FOREIGN KEY ("permission_id") REFERENCES "permissions" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
INSERT INTO "role_permissions" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','iQfnVm2CSHCytwGPtKalr971');
INSERT INTO "role_permissions" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','vEnjc61oOUGYXo_1SKdrnlSq');
INSERT INTO "role_permissions" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','VGlJcEvzSI6Jz8aafzDwBh9r');
INSERT INTO "role_permissions" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','ms1BlnoYF4JswmveIu0CdTQG');
INSERT INTO "role_permissions" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','yfnsl1q8x3DPOril2Gf5SSi6');
INSERT INTO "role_permissions" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','CxpyF59cA28DXlcHeGDEYyFZ');
INSERT INTO "role_permissions" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','xYDP_1fjuFZG9jAU2tpcebXQ');
INSERT INTO "role_permissions" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','6GBZ0Lbl8ujdlswxoOV_s_e4');
INSERT INTO "role_permissions" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','DwfBQBX4wohUtISGs94zTNxp');
INSERT INTO "role_permissions" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','FkAmhdA7Q5roQLCCQSPsbqsb');
INSERT INTO "role_permissions" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','BJcmMdze-y-umVoA3SyWMUvD');
INSERT INTO "role_permissions" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','DSiMu-asS-dBCXWi3fB3Zta3');
INSERT INTO "role_permissions" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','CqwD71QxTjVJQNxv7WtxdeY_');
INSERT INTO "role_permissions" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','JQcK1n09hJ9pm5DxKV-UkEBz');
INSERT INTO "role_permissions" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','xKaYxbsnkmJ7CbfBepLEAQKd');
INSERT INTO "role_permissions" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','_V-EktQlDNd75ISxay767pU6');
INSERT INTO "role_permissions" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','wrlARY79cgqNKaxTGing8uv-');
INSERT INTO "role_permissions" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','2uo0XT41aFWcykZrSBJNXdOD');
INSERT INTO "role_permissions" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','OZlGAzkXJDtdU9PD_J8z_L1e');
INSERT INTO "role_permissions" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','HLK-cgLBSts0mSV9fzBiSgbG');
INSERT INTO "role_permissions" VALUES('PCrTkt5dwAUEE-Y62V7U8iFd','iQfnVm2CSHCytwGPtKalr971');
INSERT INTO "role_permissions" VALUES('PCrTkt5dwAUEE-Y62V7U8iFd','vEnjc61oOUGYXo_1SKdrnlSq');
INSERT INTO "role_permissions" VALUES('PCrTkt5dwAUEE-Y62V7U8iFd','VGlJcEvzSI6Jz8aafzDwBh9r');
INSERT INTO "role_permissions" VALUES('PCrTkt5dwAUEE-Y62V7U8iFd','ms1BlnoYF4JswmveIu0CdTQG');
INSERT INTO "role_permissions" VALUES('PCrTkt5dwAUEE-Y62V7U8iFd','yfnsl1q8x3DPOril2Gf5SSi6');
INSERT INTO "role_permissions" VALUES('PCrTkt5dwAUEE-Y62V7U8iFd','CxpyF59cA28DXlcHeGDEYyFZ');
INSERT INTO "role_permissions" VALUES('PCrTkt5dwAUEE-Y62V7U8iFd','xYDP_1fjuFZG9jAU2tpcebXQ');
INSERT INTO "role_permissions" VALUES('PCrTkt5dwAUEE-Y62V7U8iFd','6GBZ0Lbl8ujdlswxoOV_s_e4');
INSERT INTO "role_permissions" VALUES('3976v4K3z3G18unUUu5BN73N','iQfnVm2CSHCytwGPtKalr971');
INSERT INTO "role_permissions" VALUES('3976v4K3z3G18unUUu5BN73N','wrlARY79cgqNKaxTGing8uv-');
INSERT INTO "role_permissions" VALUES('3976v4K3z3G18unUUu5BN73N','2uo0XT41aFWcykZrSBJNXdOD');
INSERT INTO "role_permissions" VALUES('3976v4K3z3G18unUUu5BN73N','OZlGAzkXJDtdU9PD_J8z_L1e');
INSERT INTO "role_permissions" VALUES('3976v4K3z3G18unUUu5BN73N','vEnjc61oOUGYXo_1SKdrnlSq');
INSERT INTO "role_permissions" VALUES('3976v4K3z3G18unUUu5BN73N','HLK-cgLBSts0mSV9fzBiSgbG');
INSERT INTO "role_permissions" VALUES('3976v4K3z3G18unUUu5BN73N','CxpyF59cA28DXlcHeGDEYyFZ');
CREATE TABLE "roles" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "source" TEXT NOT NULL DEFAULT 'local',
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);
INSERT INTO "roles" VALUES('5X-G8MgaQ-o6-G_Os1frmb2x','admin','May do everything in Gatehouse','built-in','2026-11-23T02:38:42.815+00:00');
INSERT INTO "roles" VALUES('PCrTkt5dwAUEE-Y62V7U8iFd','auditor','May look at everything in Gatehouse and change nothing','built-in','2026-11-23T02:38:43.125+00:00');
INSERT INTO "roles" VALUES('3976v4K3z3G18unUUu5BN73N','support','May help people who cannot get in: unlock, reset factors and passwords, end sessions','built-in','2026-11-23T02:38:43.316+00:00');
CREATE TABLE "rp_sessions" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "sso_uid" TEXT NOT NULL,
    "sid" TEXT,
    "acr" TEXT,
    "amr" TEXT NOT NULL DEFAULT '[]',
    "auth_time" DATETIME NOT NULL,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME NOT NULL
);
CREATE TABLE "saml_name_ids" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "application_id" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);
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
    "expires_at" DATETIME NOT NULL
);
CREATE TABLE "saml_requests" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "application_id" TEXT NOT NULL,
    "request_id" TEXT,
    "browser_hash" TEXT NOT NULL,
    "data" TEXT NOT NULL,
    "used_at" DATETIME,
    "expires_at" DATETIME NOT NULL
);
CREATE TABLE "seen_messages" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "expires_at" DATETIME NOT NULL
);
CREATE TABLE "session_devices" (
    "uid" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "user_agent" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME NOT NULL
, "browser_id" TEXT);
CREATE TABLE "settings" (
    "key" TEXT NOT NULL PRIMARY KEY,
    "value" TEXT NOT NULL,
    "source" TEXT NOT NULL DEFAULT 'local',
    "updated_at" DATETIME NOT NULL
);
INSERT INTO "settings" VALUES('secret.pairwise','"v1.JvsG8psY.R3ooOE7JNxZsGxbFu8tcXH0pwYxhl9DJ0sak4ugn6bqT2qQT53LwlAWwlxG3T5tgutKzbRwwRP3oPpmX6nqi_EOF_WK4iY4"','secret','2026-11-23T02:39:09.004+00:00');
CREATE TABLE "sign_in_attempts" (
    "uid" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT,
    "factors" TEXT NOT NULL DEFAULT '[]',
    "data" TEXT NOT NULL DEFAULT '{}',
    "tries" INTEGER NOT NULL DEFAULT 0,
    "expires_at" DATETIME NOT NULL
);
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
INSERT INTO "signing_keys" VALUES('jL2vbk0wonp1OVZl3azHhdc6KEDaDwzK71IvdRZu718','oidc','RS256','{"kty":"RSA","n":"0AjxHRsOAMHKXB_nl2VBZqWNm-Aq1zLCjQVUwtCJ2LqEcQSeeJ2gTr77Xh_d8jOkw8R0IfKmUAKXKy7Vwuj_YtNXu9d6Emggsd4xakotgRM8ydjdRhW7nIkH22veZrl7JyZ3je5XA45spcTXJV1CnVT87PCcpHK3IvgxvGcQMe9pSIzIdIuXC14njjzh_FgTPuyDD77_ZGdsb1iEpJVm8fY84z33G1IfW8WIoODUOSIZQ6QZCZbrKvj2l0RgX_FgbHFSF3mpxo8trXsC322etIqBsc5natgbbpuzeaRHfSR49BCD0kJfG0-S8HgGhF9q1ScTAcl_8_Y6E09_NQCzkw","e":"AQAB","kid":"jL2vbk0wonp1OVZl3azHhdc6KEDaDwzK71IvdRZu718","alg":"RS256","use":"sig"}','v1.JvsG8psY.s_5dX_KdlUjYch1-ljVwQSyW5-4m-FUc9rlfbQMOKwKsDBzBb2YPeitrGkXdUUvXN3-ZBPlEBDzRhmCJYff3opsfbp2UpX6OCg9dA0pCKVQOru79x0gI1ppvCL3TQ7WwZhUB_oBCC0O8OUuDokuvo7jGeg0NaexB9EJCQra1MHMD5L5vRuB3rOrGcBcj54kUCJFNXSXVnQrlDJZHNWT3LzkGCSOY2xu0u7Ja4QFS1aXXTd4t3CzlkonjaPf9HENeIzBG6Sh_R66nGYPw89W3_EXr4D7To4_qYZ2F--YFlBFsJIX8B9Zv0z2GT8l8bXi2bhvsolJ9HmUIxQFsaZW5K1UIilX0_GtjHZrOnGxEBaneLPbbhVFPLK8tTTuReSlgTG53o0n9Qkj63GasHxcDwZ_JFbdxdCTGpQl_L9Lbovro47cr36-VXu4PvjUN-R5EX1RjAMDerMDqfih4BBTwY3OXGnsh6v7IcNdgfC3cf6YX6FhHUo2bRQG70p8rwr380UcmFwUXk-xlR_gkyEUvrgdo1JGInbiPRVhmmeWW--WZkssCTjxBVfLIhR9gzZMOmIvP0KixEkOdme11k-XtZNY47B6QbrqN5Td-MVnL0gsB8LuIovh4lhgj20L22TtOguymyA3Lid0Q7qXrjXj8vEFsqED1mWdKLc88qAOFWnjH1ZA0j2-GTQzewl22ZkgQMDeJomIYDlgZgEiJsXTm1Js24Bz9B_Wn85S-UtAG4zMX0f5z9tUbLblHOnbNzo4pFBHAc96-6xpQ_kudYoAfbNfM-y9BJUV_AdEG2ZoxBuQZFPE4tNw0_gEgRUSPHMKH3iOBswZe3tZSnDbhF03VZj_NgbJ2d_V5VqRQMNmLX6foUMqRj4pkcQ-a0eq5ubMf-2JTomZVTNbhAzKALu1YConGVoLylH_DO8oRaNhQvn01puV47SBtlEXwXRVOaRXvVG97hHRG1dN9pkabPUknlMSr7xMQYzrfc0PrUZIvdjb0y7o30LltaV1MqujYYr6dFZEnRkoVG8wq_XRER_hlvAHw0P2wCISv3S3pewhUJvDIE2GG5FzqqsCXtzGOaduFuxvQ6RNYPvEzCT-FRqwM1-i--QG9Xxd1VXVKzKUS8qtqjWeEIV4j6rVedIUF6MkWIdXjbwFDgX6s0SgKwhaUQxjkYbcXUirB1dfY316SJ1Cy4m9genNZ5euO-mFxuffDDr2_orhj2urX9StvMFPXYyG5fSotTj1RmNr2-MFgk6CnvaZZ9gvO0DLNHLU64Qn1AZUKChxcfSXfMH90mfeSpU-QWEoGCYDUaQC8UALeMc1ShNUAzp2AuomY4rKp-B-soIgLgng8ZEQHh3WAqlbtvc8OnQG1tsNMmb2dcr2s93HIO7W70hpqLsBmXNr75lMjpLkbd2WwKzZmcfzZRzhzlaCAIS25zPfMLtw-mZF4aT_ISp51igC1SKq4VLXTa2fDdq-2XhkyjYL1uDxLn6JXBpoHmGbE6mQAofP-hshUnYX-Dkiw5mKNetL-I6wA7F7YA3XPs6ALfVApZg92MIJin3qdWRHc0DfIVybSrsdjXFvIrzZ_POQd_2lPBu3n-D3KkmDIXWoiCxRbeO4RVKnuFLjbMaAOqMyiCHWcm5dfqwzMQ8oDEB2HOVG9ePMUFQ',NULL,'active','2026-11-23T02:39:07.728+00:00','2026-11-23T02:39:07.728+00:00',NULL,NULL);
INSERT INTO "signing_keys" VALUES('6Ps_qbp6zRXU3Kx_0f516d0f6wi-2O9pFhTR72PmEYs','oidc','RS256','{"kty":"RSA","n":"ziCzn14oQompZdGK_FDWBQb6umtKcjXQQ2taw-OUJWmBd_wK8ylgwgHXnuFe-BCwGCBoPZWFDQAFGgUPZmP6sAB6BG8nNLsLv02ANmuHKzVkhjPoIN6h5p4zz9DL-3LLR5_oP1n6-B8pSpgqS__uzuBWL1_THb58Z7ad6xnkjyGN4M99zY04yCozFA48mo7edDt1qhpYVe-kSnnYVailfh733D3waksjIbhWlV6Qz6hvGnsStax72ldp_Q5Nq79S7mW_-yyc53Zg8avD0ia_91ZaGWEFiFIL4iUn2zAbZVTdv_BcWFe1te-RWZEc-WnlCiku6gLAd62jhIF_pH1VbQ","e":"AQAB","kid":"6Ps_qbp6zRXU3Kx_0f516d0f6wi-2O9pFhTR72PmEYs","alg":"RS256","use":"sig"}','v1.JvsG8psY.SpBbUD-i7aVs4UtAEUEf-mAs9NP4pPCz-4OKGvOABkWiwdSxM3PHaPWpBssvqZ0_5yssEA5aV9JdXDPF_V2k1S7rGzbegRW4nDrmtzwQVyQiY00LI-ucOdUZ49VrtXp_0qhBc-kBfKzni-7Il9_J9PdH-kSeKVxBRriFEJpcCMoqcAq4MH0vySwIUmDuus_WGGbZQ4OA8Mk57_NRA9RrgJRj1Oxy7cJEkNkSm0Xc7r_30T4uQB09w4wm5B2sQLFx2zwmhd_GeyT4Rs3Sgec1leoyjr3o4dINC34-LNYOphdwDEKvJI0FGuBcxLQfrt6LMCh8BOPEUZX58QHTMqygv0U11yDV1ie7S3NPB6xwvaGzQG1iBqtB_hXwjzPwTd1QaiuMXD-Ie_Lbs-qqDRSRmVxfqnoK9qEFS8FietWR4d5X_HLESGgi8_XmSb_4Z9Z7UkmBE3MyMg9qf54nwr4tMWKpzpoQzOvjE5cPelUTkU0kF46Z2wbclXoiRgbV-7rhGVuFwAXUmcB8MIw04rYsv7pzbeQrRZsWquacl-LTRkx0aNFDZPY15KvtC2RKfY6tnHcemOuCribXLWPOdnDKD0uNuz3LXH3R4XOfHYYG7NCI2vqz917rLxOwIABRKDlQt4zrHQatA34KVJ6QhfxrngGFfOJ18bNk5sFbnn-jy28lUg8-LqvZeMw0Bpu0Fiux6OKru4GybU--Xi3TsDykdE4NXN_hKxzlMZCnMyLbJo2_9ktmLDSBrYTibCFX_tJCb2UhApf0PFKiBUBl9sQMCiOXRSRUes_z7d93NZ61cRWkg6j5yxGJ9TZXjYjtBHhUJG0yKYQqLa1X3ExMIuctdAYlJ3j_aB83gqpzsmWH8eOyrrgPQt7caNnpkv1kc8tBIw4TkPzphMRoq1xQjo4J9HSk3PuJyj57XnY793C7m1NFJemOuiSDlxjnrUaYcQuTG2xnOMpLop188KRB2PLZyPVkxhkCDsrKschwBpoHnfdBc-z0Hy2aid4pDRxMQK3ndZGbML9elR0-FN2OGU4p4GKzGayoPareojOZU6nrKc3FqTgrueBzdtDfSOPJPee-z959FVpUBWzXY0FMZovtG36-Yn45dJvPN5OEvPSGOo4adYSQlfsuNvtgzu3koP3JD-6vCEUf6GwCKBG_qH5v1zj8WHDP22Ky5pxvlWVVQ9f8e_ToKu5k0_b-9qnpzKw-tJ6_kw43NCS-Up6spLu3diR_7SApETIUgE7oZRYMWXphtbiJgDNYfauPPCGZKADhgNraJtDPjmyMGPLVpjtXsMOrELH3Jz_ODIKDV3guMUP8xwdmfa6wgUG7MG59BxE_A6dMOxpdgPCMLwzNQP1RHwIMO8ScLCm5qD5TocQY-CqXFrvXIPDgr2oeU58PpLt8wEOFZf9imnGKyyk6BD2J5o0SRy1y10ao5OGjgLbWXAol-EvEw4676Mqrddpxfdj83Af4mRef7QMcsg6sldQSIcJ7xM_earBL_CFLkPSNBqn5R2suPU0X1gXi5tKA4iVftwJVI4SgVD4UW9Tit5oLjhNq2c3ZfUSjpJnNV3DtlTbPWLYkUR_3BTxd9jR_v-Sz7YusUfNJBLStj25GJqHottGHMtCVcRIM7EL-G0DMRXNAM6t4H6L3yVdjF5v8Ag',NULL,'next','2026-11-23T02:39:07.927+00:00',NULL,NULL,NULL);
INSERT INTO "signing_keys" VALUES('YuHQo32zU7XbvZfMWY08isp3w4lixyBVUqQWliaOLC4','oidc','ES256','{"kty":"EC","x":"CPJ-DczMEC-2iy-FpDyBAnXAn1zvzEYej8juErsQYD8","y":"M2tDNw3-Xbbr3KkqDhlqLfNYOHI_vGZdQNtCIPlbYbE","crv":"P-256","kid":"YuHQo32zU7XbvZfMWY08isp3w4lixyBVUqQWliaOLC4","alg":"ES256","use":"sig"}','v1.JvsG8psY.Pi-I933_VhoKCnLZtBZLLnp2x0ighIlnl8lU_njGYSj2Bfh-bxzeCc37ufrfNnpllv-0F3UQy9VDe0p8rTwpfkGCzmqukDX-Qhe3uNGHk6Dd354dnXUPxDR3fMUH5mtFrYzPTBvSUg8AFTGxzjgybSZucGq6V-CQ_d3_YeYVneiwTv0Pn-DxtmJPFMr88n31VbONb9E96pmQDHi4aVgEit74CgMe_g',NULL,'active','2026-11-23T02:39:06.213+00:00','2026-11-23T02:39:06.213+00:00',NULL,NULL);
INSERT INTO "signing_keys" VALUES('0tnQ1g6_p-WWqbe5Fgq6eoK3hPEUTN5tUpeHRcqkLy8','oidc','ES256','{"kty":"EC","x":"psjL0hjU2ZkFuV3jMvZEhQ0eUOYr6d-NETDHOHd2N80","y":"gdOEDfYEt2br55uTe4PyeKKxsK0MCAgvjulSzdTIjso","crv":"P-256","kid":"0tnQ1g6_p-WWqbe5Fgq6eoK3hPEUTN5tUpeHRcqkLy8","alg":"ES256","use":"sig"}','v1.JvsG8psY.qxLJTYCsGwHil80Zhr6CjpkInC_QytJ-ninyUWXGe84doMhDeRUkVLpRucFopaWB7X32-_qoBAjY0CdMTVznayQiGPi0D8pjXC1pva9rWmGqwuN8OOoUKr9jAU7YVjl7f7D2BMZMFNOVrOJ3H2UxY5oKjk4_3NlaedqjbDtq56Pg9EUQsWSonILoEFqr9tJGTb76abRMtvWBQGMoE_9jZyS9fxD-jw',NULL,'next','2026-11-23T02:39:06.250+00:00',NULL,NULL,NULL);
INSERT INTO "signing_keys" VALUES('3ZktEDbMI_4TGGHpnsVA4afsybVLE8YNM1afvNSz8b8','saml','RS256','{"kty":"RSA","n":"7JXPhie8qU4DXVc04Ea_k6dCBmWQM6G8zT5OGqHZ1Caf6yDtGzkOS2crA0JeT-wDH1HQre8sxUYv19cT5yuWFYFIsiUTyYgjsKgOUsjbPvLi5QTUPHQlZnDHzBTHR57gs3todyCtoLeTmS4i2HwdUecP7iU6V6hzz7lwAGiunWjC1eLvKKMiEtqpeSm-tge9QsL4hCfs7qWjl1T1N4-ZTrxRW3UbZ2B8kuckChfect6odbzskK-NIzJ45GQErN89xlntH_-t09ALWoWxg55tVSO2QIydPWPlQisdiShN0mZSJTxbjZQAs5VVs4Bu-5BkSV92WWnsIN100JbJeupEIQ","e":"AQAB","kid":"3ZktEDbMI_4TGGHpnsVA4afsybVLE8YNM1afvNSz8b8","alg":"RS256","use":"sig"}','v1.JvsG8psY.4mc9QkZVpSEJNsGdwi73lt3ipKVMLQVgLG6jEZe4xKSmVimV2w8Gtw8p4CpiELr3YKjpZNy_0r5fia5GHhZonx2oS0LmRXZtWPFMyPlEy9jgKdGe90dfgIsNAazPDYbOcudBw-hMP84MbYb_6MgW4mAgDR7uxm6prWEYcTB8J40S-zLrv9gILf2U-psIXDd0W3UhnVtBhwp4vb8m50En6kwf83ZIcpAXNx9dFOrQMNWSBHGIeOvHVAmKaMce4AHaVkwMrS-rsmqgLNRY8t1ZscbXK1vO2RoJL3usPQbUZAz5-TsoCxlgapXTuB0MCDvo2Nkp78_cAzJOiZvI8JTCazuQ1Dov7uhnu31m7G9FFTGjMSs_cEbdlyTj-744bR4wSVEUxWujmZ83xqarw26zXZW5YzBmHDQw-lSVh-p1_5T6hVgPCaTeVrUWZnJn0dTxbvx6i7n9Y4cpFGz-5YxdblpzM-QHBgwPbZilcQP7exnp9xz5Rg13Eq2QHGenZIvhXksaq9fv2woVqz7ptVFEpHwgRn3Urj5GEXpBO0D1gbULDN4N9GyjmQPe_MTH116iJoTJQBiNPcBby7dc-TsdWhnPCzJeH7a_YXInsjpmjfGk48-aTnEdZMS4MTzsMi_kZkasanJFCGpi5y7z4eq9EvWN-2eN3ekzaH6uW-4xePVFSgHWTqSHGgJ4wwf1k6I2G8qY8wtS7A3F_AdqPfIzeNMRSspbQwossY3E6lpqdVT1niXT6zot6VZy0aJZ9d7wiuQS0dCT-jRsWgs4AK6gIJVmuHPF6FZO4s8AE-qNMvMsYzfzK155iALSrheXmmyuRDLuNiDcuCc6FiYVM-I8e_cxThfI3zEe1vZ-BMPV1jEcJUOxQvcPz91OSz_l3qJ1yf2LyG4JLpqbnK5vFoIObWpwzZ9TN8CDrASfx1IvZGZsqEKIoTV_xqvxHT6Mxdk74hksDHl99Xz25MJlX1ceo-Nb5nE-cffVhOCIG6CWtX_RB-As8GV_4uajf0FB3T8h5dk_-QCPiuqbVT3voORMinFXUpHik30YNDDUZyd-BGXGOBVNsRKn7pkIKeqqUjJY754JItu4pkSOka5tfnpUeGCPberyA5vtNOs6HsIsf_--XTDsjKh4mSYoMz5cRxrgoJ0yc9uE0HL-cRp33clFbC4NzjT70Wxx_UbUYqFWrfwzI9fuFvllNEwuiiKYUvjbZb7aYb99qbpHQaHMrYs5ehEygi4iwWAx0NLs6V97S5_Ub548tE33HJ9ZrgcKwILFt0i_bMTyWolMNaF50YFHuudc_NNjOly_QTGGUT820PBA5gxfQ3MzHhbHOECdbcgxBnUtFkAZx1Q6cEWaGfDGFJUjv6yGJLYj7HURA5TPDnBAAm-WtooQGaTfo_K7ggEj8lDrxxtJwo69EwFGOy3UYZAoAXtoFAdUqiYXqIXVQHpayZsQ81qVkB_nTqrxhl77hPsmR0ZDVyCUjZoJ15byR-CgYwZq5sHBt-R0AJ-tFAzELCEtRRUySSnhdKHaDVotz4Ofp6FNBl4jvytVB4Ngj06f1DYDOmrPoglQn_IW24jxYZ4nf9jDWJWYQeOZpXAVp80_jAcanMHxApLcVwLX3Di1cCGXq6TeFKDYTp2wmO_u0I3noESwKY7u2uqPtA','-----BEGIN CERTIFICATE-----
MIIC4TCCAcmgAwIBAgIQVrMmoaGmD8ysCRaeaXhtDzANBgkqhkiG9w0BAQsFADAU
MRIwEAYDVQQDDAlsb2NhbGhvc3QwHhcNMjYxMTIzMDIzOTA4WhcNMjkxMTIyMDIz
OTA4WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwggEiMA0GCSqGSIb3DQEBAQUAA4IB
DwAwggEKAoIBAQDslc+GJ7ypTgNdVzTgRr+Tp0IGZZAzobzNPk4aodnUJp/rIO0b
OQ5LZysDQl5P7AMfUdCt7yzFRi/X1xPnK5YVgUiyJRPJiCOwqA5SyNs+8uLlBNQ8
dCVmcMfMFMdHnuCze2h3IK2gt5OZLiLYfB1R5w/uJTpXqHPPuXAAaK6daMLV4u8o
oyIS2ql5Kb62B71CwviEJ+zupaOXVPU3j5lOvFFbdRtnYHyS5yQKF95y3qh1vOyQ
r40jMnjkZASs3z3GWe0f/63T0AtahbGDnm1VI7ZAjJ09Y+VCKx2JKE3SZlIlPFuN
lACzlVWzgG77kGRJX3ZZaewg3XTQlsl66kQhAgMBAAGjLzAtMAwGA1UdEwEB/wQC
MAAwHQYDVR0OBBYEFEHt9zFuCSrXO9M+89XcckU/UNbAMA0GCSqGSIb3DQEBCwUA
A4IBAQAOfEbJugDBs9/T2Sr7iCXH0r8r66UYNiwqPrZJAYFmSsoFyu95CVuurMvo
oFbXKQEy11zPvuiAAh90I1DAAPJikP3ZcjSxa+h9n553fbzNVSX66XVhWD9MV1kG
zuXwL6LMl/a5AIyP70GIAmcNf2//Es6XdSODoP/xnoYhML//kuHIkZCQ7cQUr8VA
0fmyqAhPzPfqvCGjwMop05oUabK75NpcTAog6eSNdCKUeCthVwfhx5eJKmveY/sl
7BFrMDcq3xS0g+jqedQ99n+xz8jQcDQ8XiAjtDSKbtjbtKWIg8QQQ0CV43sYQw4g
7dzGpJ1eZujV3EvYaz81Ztdk3sOZ
-----END CERTIFICATE-----
','active','2026-11-23T02:39:08.100+00:00','2026-11-23T02:39:08.100+00:00',NULL,'2029-11-22T02:39:08.100+00:00');
CREATE TABLE "totp_credentials" (
    "user_id" TEXT NOT NULL PRIMARY KEY,
    "secret_sealed" TEXT NOT NULL,
    "confirmed_at" DATETIME,
    "last_step" BIGINT NOT NULL DEFAULT 0,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "totp_credentials_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE TABLE "user_roles" (
    "user_id" TEXT NOT NULL,
    "role_id" TEXT NOT NULL,

    PRIMARY KEY ("user_id", "role_id"),
    CONSTRAINT "user_roles_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "user_roles_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "roles" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
INSERT INTO "user_roles" VALUES('VkNtNBpv9P-36yd4iUOZbWnK','5X-G8MgaQ-o6-G_Os1frmb2x');
CREATE TABLE "users" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "username" TEXT NOT NULL,
    "username_key" TEXT NOT NULL,
    "email" TEXT,
    "email_key" TEXT,
    "email_verified" BOOLEAN NOT NULL DEFAULT false,
    "name" TEXT,
    "given_name" TEXT,
    "family_name" TEXT,
    "picture" TEXT,
    "locale" TEXT,
    "zoneinfo" TEXT,
    "phone_number" TEXT,
    "attributes" TEXT NOT NULL DEFAULT '{}',
    "sso_id" TEXT,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "source" TEXT NOT NULL DEFAULT 'local',
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" DATETIME NOT NULL
, "search_key" TEXT NOT NULL DEFAULT '');
INSERT INTO "users" VALUES('lGU8xkfyqRuRbqdJXulbY9Gc','ann','ann','ann@example.com','ann@example.com',1,'Ann Example',NULL,NULL,NULL,NULL,NULL,NULL,'{}',NULL,1,'local','2026-11-23T02:38:46.135+00:00','2026-11-23T02:38:46.135+00:00','ann
ann@example.com
ann example');
INSERT INTO "users" VALUES('VkNtNBpv9P-36yd4iUOZbWnK','root','root','root@example.com','root@example.com',0,'Root',NULL,NULL,NULL,NULL,NULL,NULL,'{}',NULL,1,'local','2026-11-23T02:38:50.191+00:00','2026-11-23T02:38:50.191+00:00','root
root@example.com
root');
CREATE UNIQUE INDEX "users_username_key_key" ON "users"("username_key");
CREATE UNIQUE INDEX "users_email_key_key" ON "users"("email_key");
CREATE UNIQUE INDEX "users_sso_id_key" ON "users"("sso_id");
CREATE UNIQUE INDEX "roles_name_key" ON "roles"("name");
CREATE UNIQUE INDEX "permissions_resource_action_key" ON "permissions"("resource", "action");
CREATE INDEX "user_roles_role_id_idx" ON "user_roles"("role_id");
CREATE INDEX "role_permissions_permission_id_idx" ON "role_permissions"("permission_id");
CREATE INDEX "passkeys_user_id_idx" ON "passkeys"("user_id");
CREATE UNIQUE INDEX "recovery_codes_user_id_code_hash_key" ON "recovery_codes"("user_id", "code_hash");
CREATE UNIQUE INDEX "password_reset_tokens_token_hash_key" ON "password_reset_tokens"("token_hash");
CREATE INDEX "password_reset_tokens_user_id_idx" ON "password_reset_tokens"("user_id");
CREATE INDEX "password_reset_tokens_expires_at_idx" ON "password_reset_tokens"("expires_at");
CREATE UNIQUE INDEX "mail_tokens_token_hash_key" ON "mail_tokens"("token_hash");
CREATE INDEX "mail_tokens_user_id_purpose_idx" ON "mail_tokens"("user_id", "purpose");
CREATE INDEX "mail_tokens_expires_at_idx" ON "mail_tokens"("expires_at");
CREATE INDEX "one_time_codes_user_id_idx" ON "one_time_codes"("user_id");
CREATE INDEX "one_time_codes_expires_at_idx" ON "one_time_codes"("expires_at");
CREATE UNIQUE INDEX "known_browsers_token_hash_key" ON "known_browsers"("token_hash");
CREATE INDEX "known_browsers_user_id_idx" ON "known_browsers"("user_id");
CREATE INDEX "known_browsers_expires_at_idx" ON "known_browsers"("expires_at");
CREATE UNIQUE INDEX "applications_client_id_key" ON "applications"("client_id");
CREATE INDEX "application_roles_role_id_idx" ON "application_roles"("role_id");
CREATE INDEX "client_secrets_application_id_idx" ON "client_secrets"("application_id");
CREATE INDEX "oidc_artifacts_grant_id_idx" ON "oidc_artifacts"("grant_id");
CREATE INDEX "oidc_artifacts_user_code_idx" ON "oidc_artifacts"("user_code");
CREATE INDEX "oidc_artifacts_account_id_model_idx" ON "oidc_artifacts"("account_id", "model");
CREATE INDEX "oidc_artifacts_expires_at_idx" ON "oidc_artifacts"("expires_at");
CREATE INDEX "consents_application_id_idx" ON "consents"("application_id");
CREATE UNIQUE INDEX "consents_user_id_application_id_key" ON "consents"("user_id", "application_id");
CREATE INDEX "sign_in_attempts_expires_at_idx" ON "sign_in_attempts"("expires_at");
CREATE INDEX "session_devices_user_id_idx" ON "session_devices"("user_id");
CREATE INDEX "session_devices_expires_at_idx" ON "session_devices"("expires_at");
CREATE INDEX "rp_sessions_user_id_idx" ON "rp_sessions"("user_id");
CREATE INDEX "rp_sessions_expires_at_idx" ON "rp_sessions"("expires_at");
CREATE INDEX "saml_requests_expires_at_idx" ON "saml_requests"("expires_at");
CREATE INDEX "seen_messages_expires_at_idx" ON "seen_messages"("expires_at");
CREATE UNIQUE INDEX "saml_name_ids_value_key" ON "saml_name_ids"("value");
CREATE INDEX "saml_name_ids_application_id_idx" ON "saml_name_ids"("application_id");
CREATE UNIQUE INDEX "saml_name_ids_user_id_application_id_key" ON "saml_name_ids"("user_id", "application_id");
CREATE INDEX "saml_participants_application_id_name_id_idx" ON "saml_participants"("application_id", "name_id");
CREATE INDEX "saml_participants_user_id_idx" ON "saml_participants"("user_id");
CREATE INDEX "saml_participants_expires_at_idx" ON "saml_participants"("expires_at");
CREATE UNIQUE INDEX "saml_participants_session_uid_application_id_session_index_key" ON "saml_participants"("session_uid", "application_id", "session_index");
CREATE INDEX "signing_keys_use_state_idx" ON "signing_keys"("use", "state");
CREATE INDEX "mail_messages_sent_at_failed_at_next_try_at_idx" ON "mail_messages"("sent_at", "failed_at", "next_try_at");
CREATE INDEX "audit_events_at_idx" ON "audit_events"("at");
CREATE INDEX "audit_events_request_id_idx" ON "audit_events"("request_id");
CREATE INDEX "audit_events_type_at_idx" ON "audit_events"("type", "at");
CREATE INDEX "rate_limits_expires_at_idx" ON "rate_limits"("expires_at");
CREATE INDEX "oidc_artifacts_uid_model_idx" ON "oidc_artifacts"("uid", "model");
CREATE INDEX "users_created_at_id_is_active_source_search_key_idx" ON "users"("created_at", "id", "is_active", "source", "search_key");
CREATE INDEX "idempotency_keys_expires_at_idx" ON "idempotency_keys"("expires_at");
CREATE INDEX "applications_protocol_name_id_idx" ON "applications"("protocol", "name", "id");
CREATE INDEX "applications_name_id_idx" ON "applications"("name", "id");
CREATE INDEX "session_devices_created_at_uid_idx" ON "session_devices"("created_at", "uid");
CREATE UNIQUE INDEX "audit_events_chain_seq_key" ON "audit_events"("chain_seq");
CREATE INDEX "audit_events_actor_id_id_idx" ON "audit_events"("actor_id", "id");
CREATE INDEX "audit_events_subject_id_id_idx" ON "audit_events"("subject_id", "id");
CREATE INDEX "audit_events_client_id_id_idx" ON "audit_events"("client_id", "id");
CREATE INDEX "logout_deliveries_done_at_failed_at_next_try_at_idx" ON "logout_deliveries"("done_at", "failed_at", "next_try_at");
CREATE INDEX "logout_runs_finished_at_seen_at_idx" ON "logout_runs"("finished_at", "seen_at");
CREATE INDEX "logout_runs_expires_at_idx" ON "logout_runs"("expires_at");
CREATE UNIQUE INDEX "logout_participants_message_id_key" ON "logout_participants"("message_id");
CREATE INDEX "logout_participants_run_id_idx" ON "logout_participants"("run_id");
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('audit_events',11);
