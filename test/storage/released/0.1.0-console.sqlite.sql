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
INSERT INTO "_prisma_migrations" VALUES('0f5c3944-0471-4161-9ae4-27dec47afd68','f4563fc438b4239bd35c69e4da8f6ecf896abbc5c6a1e07d66c6cbecfb3bb9dc','2026-11-23T02:40:10.557+00:00','20261121091642_init',NULL,NULL,'2026-11-23T02:40:10.536+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('30dd9ce0-09ec-4ada-a98a-b1db9f0c8d93','f6f216566691f838e9099be6bc6a62592e9ec8a88d4881307636cfda0a92f195','2026-11-23T02:40:10.570+00:00','20261121102220_lean_artifacts',NULL,NULL,'2026-11-23T02:40:10.557+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('92fe2069-8718-4d11-80ac-026a3b686ce4','737ba1f1cfff01dc9bc34ca35bd6ea9081939f2de4132cb5e7f11b97d9680a8e','2026-11-23T02:40:10.572+00:00','20261121102420_audit_chain_and_admin_api',NULL,NULL,'2026-11-23T02:40:10.570+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('58dd201d-d255-4976-a721-749561674ecf','dee26b57c213104fc5ef49e2cf173023d91f6fddb3362b5e2f757ae827508455','2026-11-23T02:40:10.651+00:00','20261121102726_logout_runs',NULL,NULL,'2026-11-23T02:40:10.585+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('965e380d-fff8-4286-8d3e-c761456b6415','48aba72637ad82f2a976446adbb4803137b142baba323ed2b05a7a74e8d9503a','2026-11-23T02:40:10.652+00:00','20261121104606_phone_factor_and_verified_passkeys',NULL,NULL,'2026-11-23T02:40:10.651+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('ed8c7a3f-38f7-48f5-8b52-f9320065063b','259d3069b18219f7558be13415d3c7163f342c22300cf8679a066ee2c918865a','2026-11-23T02:40:10.653+00:00','20261121231829_refusals',NULL,NULL,'2026-11-23T02:40:10.652+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('d76ff3ca-063b-4ea6-97a7-2aa334778fb9','5cfae981ebdfdfa76e69deb9d0eb1871b86c9e31d7fe75f3c259b382cbb38827','2026-11-23T02:40:10.653+00:00','20261122022102_list_indexes',NULL,NULL,'2026-11-23T02:40:10.653+00:00',1);
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
INSERT INTO "applications" VALUES('TOuHsSSxvUmI9tYXPEuTWUqL','shop','oidc','Shop',1,'implicit','everyone','{"application_type":"web","redirect_uris":["http://127.0.0.1:4000/cb"],"post_logout_redirect_uris":[],"grant_types":["authorization_code","refresh_token"],"token_endpoint_auth_method":"client_secret_basic","id_token_signed_response_alg":"RS256","subject_type":"public","response_types":["code"]}','local','2026-11-23T02:40:26.237+00:00','2026-11-23T02:40:26.237+00:00');
INSERT INTO "applications" VALUES('bGZA2nBtg8X3jIDnsSr9FrQK','https://wiki.example/metadata','saml','Wiki',1,'implicit','everyone','{"attributes":{},"sign":"assertion","encrypt_assertion":"auto","idp_initiated":false,"allow_sha1":false,"metadata_xml":"<md:EntityDescriptor xmlns:md=\"urn:oasis:names:tc:SAML:2.0:metadata\" entityID=\"https://wiki.example/metadata\"><md:SPSSODescriptor protocolSupportEnumeration=\"urn:oasis:names:tc:SAML:2.0:protocol\" WantAssertionsSigned=\"true\"><md:AssertionConsumerService index=\"0\" isDefault=\"true\" Binding=\"urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST\" Location=\"http://127.0.0.1:4100/acs\"/></md:SPSSODescriptor></md:EntityDescriptor>\n"}','local','2026-11-23T02:40:30.332+00:00','2026-11-23T02:40:30.332+00:00');
CREATE TABLE "audit_chain" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "seq" INTEGER NOT NULL,
    "hash" TEXT NOT NULL,
    "mac" TEXT NOT NULL
);
INSERT INTO "audit_chain" VALUES('head',16,'44b92fd0c3da2f366924101d4a88edf687907c99eecf1d429638ac447f27ba16','m-4rxPf5pQUdd42KE-vO0AC9nvIta_GBsDUCResE0wg');
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
INSERT INTO "audit_events" VALUES(1,'2026-11-23T02:40:12.387+00:00','role.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"after":{"name":"admin","description":"May do everything in Gatehouse","permissions":["gatehouse.users:read","gatehouse.sessions:read","gatehouse.applications:read","gatehouse.roles:read","gatehouse.keys:read","gatehouse.audit:read","gatehouse.settings:read","gatehouse.mail:read","gatehouse.users:write","gatehouse.sessions:write","gatehouse.applications:write","gatehouse.roles:write","gatehouse.keys:write","gatehouse.audit:write","gatehouse.settings:write","gatehouse.mail:write","gatehouse.users:unlock","gatehouse.users:reset-factors","gatehouse.users:reset-password","gatehouse.sessions:end"]}}',NULL,'260af002ff9b4524a816ed31aef99df28402034f75b1b791296697d866917524',1);
INSERT INTO "audit_events" VALUES(2,'2026-11-23T02:40:12.616+00:00','role.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"after":{"name":"auditor","description":"May look at everything in Gatehouse and change nothing","permissions":["gatehouse.users:read","gatehouse.sessions:read","gatehouse.applications:read","gatehouse.roles:read","gatehouse.keys:read","gatehouse.audit:read","gatehouse.settings:read","gatehouse.mail:read"]}}',NULL,'f5875f911544c8474170218ff092fea94d40caade7517a2e61a45ebb8583d12e',2);
INSERT INTO "audit_events" VALUES(3,'2026-11-23T02:40:12.761+00:00','role.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"after":{"name":"support","description":"May help people who cannot get in: unlock, reset factors and passwords, end sessions","permissions":["gatehouse.users:read","gatehouse.users:unlock","gatehouse.users:reset-factors","gatehouse.users:reset-password","gatehouse.sessions:read","gatehouse.sessions:end","gatehouse.audit:read"]}}',NULL,'f478b553ca584ff8e8fd2ea3285de19ff90795da461411afe1d4f6b7dcba05b5',3);
INSERT INTO "audit_events" VALUES(4,'2026-11-23T02:40:13.744+00:00','account.created','success',NULL,NULL,'8UjaeHMGFZjCdeTG_97P3BpJ',NULL,NULL,NULL,NULL,'{"after":{"name":"Ann Example","username":"ann","email":"ann@example.com","emailVerified":true}}',NULL,'c1fdce9e801ea365ef875168db0c6221b41d4144ad9e0a7d8a29b664da4cece4',4);
INSERT INTO "audit_events" VALUES(5,'2026-11-23T02:40:13.803+00:00','password.set','success',NULL,NULL,'8UjaeHMGFZjCdeTG_97P3BpJ',NULL,NULL,NULL,NULL,'{"mustChange":false}',NULL,'72e906c02c15b2cbb61f904014a83cf2b39fc356ce70a23ea0745ef0a0d27e2d',5);
INSERT INTO "audit_events" VALUES(6,'2026-11-23T02:40:21.304+00:00','account.created','success',NULL,NULL,'4ZwGHtHdbx_a0OPxxyjJ0TTv',NULL,NULL,NULL,NULL,'{"after":{"name":"Root","username":"root","email":"root@example.com","emailVerified":false}}',NULL,'e90bf6608b488982427d2269b78ca812dfe8e77e2b752db37d8c2f72ba299903',6);
INSERT INTO "audit_events" VALUES(7,'2026-11-23T02:40:21.424+00:00','role.assigned','success',NULL,NULL,'4ZwGHtHdbx_a0OPxxyjJ0TTv',NULL,NULL,NULL,NULL,'{"roleName":"admin"}',NULL,'c3733dbf9ce27a5e6b5cd0e31548393582fdb5622ec5242e04f97fc209f87b6e',7);
INSERT INTO "audit_events" VALUES(8,'2026-11-23T02:40:21.522+00:00','password.set','success',NULL,NULL,'4ZwGHtHdbx_a0OPxxyjJ0TTv',NULL,NULL,NULL,NULL,'{"mustChange":false}',NULL,'4456d7a1113391c9273286d1f3f22af6f6ba73f7c2034b3541dbc9bb55eb0fb8',8);
INSERT INTO "audit_events" VALUES(9,'2026-11-23T02:40:26.382+00:00','application.created','success',NULL,NULL,NULL,'shop',NULL,NULL,NULL,'{"name":"Shop","protocol":"oidc","source":"local","after":{"name":"Shop","consent":"implicit","access":"everyone","enabled":true,"source":"local","application_type":"web","redirect_uris":["http://127.0.0.1:4000/cb"],"post_logout_redirect_uris":[],"grant_types":["authorization_code","refresh_token"],"token_endpoint_auth_method":"client_secret_basic","id_token_signed_response_alg":"RS256","subject_type":"public","response_types":["code"]}}',NULL,'fd223e47b0797cfbc7ec5b78c45994e72c1039274260eed42f755a31c3176214',9);
INSERT INTO "audit_events" VALUES(10,'2026-11-23T02:40:30.441+00:00','application.created','success',NULL,NULL,NULL,'https://wiki.example/metadata',NULL,NULL,NULL,'{"name":"Wiki","protocol":"saml","source":"local","after":{"name":"Wiki","consent":"implicit","access":"everyone","enabled":true,"source":"local","attributes":{},"sign":"assertion","encrypt_assertion":"auto","idp_initiated":false,"allow_sha1":false,"metadata_xml":"419 characters, SHA-256 ytC7carJEW9a3WTzoFrlUj65rLkTQAqLGuPQ2LnUdqM"}}',NULL,'ec55fcc67ed8d26c1beea5e339add444fd473eaeb4ce276fec3737460beae93e',10);
INSERT INTO "audit_events" VALUES(11,'2026-11-23T02:40:38.228+00:00','key.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"kid":"I7hdGRLX5UeMbX_VxxX_Nknb-I2cV043jb4VdsKq2Vk","use":"oidc","alg":"RS256","state":"active","scheduled":true}',NULL,'b16cb0552b95e5f6cb4cc62743f6656853d8bb13c65a661d22221d41ea8d8486',11);
INSERT INTO "audit_events" VALUES(12,'2026-11-23T02:40:38.379+00:00','key.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"kid":"st4dfpXAbPa-xFovJ0yaT4wgz_B2q-Y8sQXGcBGCQLg","use":"oidc","alg":"RS256","state":"next","scheduled":true}',NULL,'b7430465a2fcb4cf2e910d3d10c5e80cb45eb9152dee27a4d6b7b6e58a5cdcdb',12);
INSERT INTO "audit_events" VALUES(13,'2026-11-23T02:40:38.420+00:00','key.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"kid":"mSrpVOltfs04FcxnS_auHhbFTzz8FPU4BOHWm7waDVw","use":"oidc","alg":"ES256","state":"active","scheduled":true}',NULL,'98c276ea98191c2723dc1846f7866ee9b1fe3c26ee8e427ddaf8046f70150b06',13);
INSERT INTO "audit_events" VALUES(14,'2026-11-23T02:40:38.430+00:00','key.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"kid":"J1Ix4PkuLNlAMY4umcriyVoZIMdWDEKKPJMgg1-LQVM","use":"oidc","alg":"ES256","state":"next","scheduled":true}',NULL,'dfb12abf0bbcb314995323f84dfe418ba8ed820c2a17840d52521a233bc0f7a8',14);
INSERT INTO "audit_events" VALUES(15,'2026-11-23T02:40:38.450+00:00','key.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"kid":"Ht0onl3lhl0AyeCEufg1RDvrWWotYvBLevGjyDyvWw4","use":"saml","alg":"RS256","state":"active","scheduled":true}',NULL,'dd87cfded1f76e3b9d66707f81b36173ff5535769e0a062d482840bf7248061f',15);
INSERT INTO "audit_events" VALUES(16,'2026-11-23T02:40:42.883+00:00','server.started','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"node":"v20.20.2"}',NULL,'44b92fd0c3da2f366924101d4a88edf687907c99eecf1d429638ac447f27ba16',16);
CREATE TABLE "client_secrets" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "application_id" TEXT NOT NULL,
    "secret_hash" TEXT,
    "secret_sealed" TEXT,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME,
    CONSTRAINT "client_secrets_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
INSERT INTO "client_secrets" VALUES('xebtnT87eJDull0Xv7kysep5','TOuHsSSxvUmI9tYXPEuTWUqL','FgxUn-zTuGBOIuT_4OnkbYazDxgLEHxkAmfmD0Tj5B4',NULL,'2026-11-23T02:40:26.297+00:00',NULL);
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
INSERT INTO "job_locks" VALUES('abandoned-sign-outs','','2026-11-23T02:41:08.100+00:00');
INSERT INTO "job_locks" VALUES('sweep','','2026-11-23T02:41:35.127+00:00');
INSERT INTO "job_locks" VALUES('logout-deliveries','','2026-11-23T02:40:51.297+00:00');
INSERT INTO "job_locks" VALUES('audit-chain','','2026-11-23T02:40:51.590+00:00');
INSERT INTO "job_locks" VALUES('keys','','2026-11-23T02:41:35.991+00:00');
INSERT INTO "job_locks" VALUES('saml-certificates','','2026-11-24T00:16:42.089+00:00');
INSERT INTO "job_locks" VALUES('saml-metadata','','2026-11-24T00:16:42.147+00:00');
INSERT INTO "job_locks" VALUES('mail','','2026-11-23T02:40:52.571+00:00');
INSERT INTO "job_locks" VALUES('audit-retention','','2026-11-23T03:34:42.965+00:00');
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
INSERT INTO "password_credentials" VALUES('8UjaeHMGFZjCdeTG_97P3BpJ','$argon2id$v=19$m=19456,p=1,t=2$cHpP7p9NRIV2qkv9nX+Jog$duB6O+AtELGbaFJnl6nN7Ti19frvbHuPyteOBJ0+H1s',0,1,'2026-11-23T02:40:13.759+00:00');
INSERT INTO "password_credentials" VALUES('4ZwGHtHdbx_a0OPxxyjJ0TTv','$argon2id$v=19$m=19456,p=1,t=2$s+EPY4CBKxgomxE0874sOQ$29vXM/tEGMz6iHQGTrywRfzuhKKwyWRZ54pMtiQJVbI',0,1,'2026-11-23T02:40:21.425+00:00');
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
INSERT INTO "permissions" VALUES('Uz0TmWwIGOiUyiIVG9_O7iIR','gatehouse.users','read');
INSERT INTO "permissions" VALUES('5PKhPZvFysSk1UHOJLMkBW9j','gatehouse.sessions','read');
INSERT INTO "permissions" VALUES('27kpmNi4KcM2pJh7ptL6z2-7','gatehouse.applications','read');
INSERT INTO "permissions" VALUES('egyjCkHOzhS6AMd8-XwQdyWP','gatehouse.roles','read');
INSERT INTO "permissions" VALUES('SedDY6E2nJu5q5zaUYC5AT-G','gatehouse.keys','read');
INSERT INTO "permissions" VALUES('ENSWjQmhh4I-pAu2sCVMVODJ','gatehouse.audit','read');
INSERT INTO "permissions" VALUES('PcCYGStDEkH4KCvk7SE2-TUq','gatehouse.settings','read');
INSERT INTO "permissions" VALUES('ITzXWSnchkm_xEJj8XL_EZNK','gatehouse.mail','read');
INSERT INTO "permissions" VALUES('xN-mbdwOhG2c16BhJs_hYvdq','gatehouse.users','write');
INSERT INTO "permissions" VALUES('7EY-J3rNUfeFpnNsfilLxsWT','gatehouse.sessions','write');
INSERT INTO "permissions" VALUES('4d62IFgUlhDXTFoF1gnUPpbJ','gatehouse.applications','write');
INSERT INTO "permissions" VALUES('RddwHe78WxOHXKd8nHhetW0G','gatehouse.roles','write');
INSERT INTO "permissions" VALUES('stwXU87_WBdXqDDJFdGNCvsC','gatehouse.keys','write');
INSERT INTO "permissions" VALUES('giW-FltYqlszcKpmigsdkwIq','gatehouse.audit','write');
INSERT INTO "permissions" VALUES('prES-8qD0kkSUBbbu-RCveTl','gatehouse.settings','write');
INSERT INTO "permissions" VALUES('DJ0iXvUv5ncCejf0NDnIOYgG','gatehouse.mail','write');
INSERT INTO "permissions" VALUES('6i0J_nCyzetmzJUSKLRoBhze','gatehouse.users','unlock');
INSERT INTO "permissions" VALUES('LSSTy2fJjWyX8nJPp27p3BBM','gatehouse.users','reset-factors');
INSERT INTO "permissions" VALUES('1-wlS8Nth6UE_9SGz9II_1IL','gatehouse.users','reset-password');
INSERT INTO "permissions" VALUES('lpHkFWnsWtsfMuY9Qh7VhL_W','gatehouse.sessions','end');
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
CREATE TABLE "refusals" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "endpoint" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "client_id" TEXT,
    "subject_id" TEXT,
    "request_id" TEXT NOT NULL,
    "data" TEXT NOT NULL,
    "expires_at" DATETIME NOT NULL
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
INSERT INTO "role_permissions" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','Uz0TmWwIGOiUyiIVG9_O7iIR');
INSERT INTO "role_permissions" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','5PKhPZvFysSk1UHOJLMkBW9j');
INSERT INTO "role_permissions" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','27kpmNi4KcM2pJh7ptL6z2-7');
INSERT INTO "role_permissions" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','egyjCkHOzhS6AMd8-XwQdyWP');
INSERT INTO "role_permissions" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','SedDY6E2nJu5q5zaUYC5AT-G');
INSERT INTO "role_permissions" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','ENSWjQmhh4I-pAu2sCVMVODJ');
INSERT INTO "role_permissions" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','PcCYGStDEkH4KCvk7SE2-TUq');
INSERT INTO "role_permissions" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','ITzXWSnchkm_xEJj8XL_EZNK');
INSERT INTO "role_permissions" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','xN-mbdwOhG2c16BhJs_hYvdq');
INSERT INTO "role_permissions" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','7EY-J3rNUfeFpnNsfilLxsWT');
INSERT INTO "role_permissions" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','4d62IFgUlhDXTFoF1gnUPpbJ');
INSERT INTO "role_permissions" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','RddwHe78WxOHXKd8nHhetW0G');
INSERT INTO "role_permissions" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','stwXU87_WBdXqDDJFdGNCvsC');
INSERT INTO "role_permissions" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','giW-FltYqlszcKpmigsdkwIq');
INSERT INTO "role_permissions" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','prES-8qD0kkSUBbbu-RCveTl');
INSERT INTO "role_permissions" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','DJ0iXvUv5ncCejf0NDnIOYgG');
INSERT INTO "role_permissions" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','6i0J_nCyzetmzJUSKLRoBhze');
INSERT INTO "role_permissions" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','LSSTy2fJjWyX8nJPp27p3BBM');
INSERT INTO "role_permissions" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','1-wlS8Nth6UE_9SGz9II_1IL');
INSERT INTO "role_permissions" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','lpHkFWnsWtsfMuY9Qh7VhL_W');
INSERT INTO "role_permissions" VALUES('6ipOmJxCZIJ5xYnLX6EI1spi','Uz0TmWwIGOiUyiIVG9_O7iIR');
INSERT INTO "role_permissions" VALUES('6ipOmJxCZIJ5xYnLX6EI1spi','5PKhPZvFysSk1UHOJLMkBW9j');
INSERT INTO "role_permissions" VALUES('6ipOmJxCZIJ5xYnLX6EI1spi','27kpmNi4KcM2pJh7ptL6z2-7');
INSERT INTO "role_permissions" VALUES('6ipOmJxCZIJ5xYnLX6EI1spi','egyjCkHOzhS6AMd8-XwQdyWP');
INSERT INTO "role_permissions" VALUES('6ipOmJxCZIJ5xYnLX6EI1spi','SedDY6E2nJu5q5zaUYC5AT-G');
INSERT INTO "role_permissions" VALUES('6ipOmJxCZIJ5xYnLX6EI1spi','ENSWjQmhh4I-pAu2sCVMVODJ');
INSERT INTO "role_permissions" VALUES('6ipOmJxCZIJ5xYnLX6EI1spi','PcCYGStDEkH4KCvk7SE2-TUq');
INSERT INTO "role_permissions" VALUES('6ipOmJxCZIJ5xYnLX6EI1spi','ITzXWSnchkm_xEJj8XL_EZNK');
INSERT INTO "role_permissions" VALUES('A9-eNXHVI9TXet04QXgJvMKo','Uz0TmWwIGOiUyiIVG9_O7iIR');
INSERT INTO "role_permissions" VALUES('A9-eNXHVI9TXet04QXgJvMKo','6i0J_nCyzetmzJUSKLRoBhze');
INSERT INTO "role_permissions" VALUES('A9-eNXHVI9TXet04QXgJvMKo','LSSTy2fJjWyX8nJPp27p3BBM');
INSERT INTO "role_permissions" VALUES('A9-eNXHVI9TXet04QXgJvMKo','1-wlS8Nth6UE_9SGz9II_1IL');
INSERT INTO "role_permissions" VALUES('A9-eNXHVI9TXet04QXgJvMKo','5PKhPZvFysSk1UHOJLMkBW9j');
INSERT INTO "role_permissions" VALUES('A9-eNXHVI9TXet04QXgJvMKo','lpHkFWnsWtsfMuY9Qh7VhL_W');
INSERT INTO "role_permissions" VALUES('A9-eNXHVI9TXet04QXgJvMKo','ENSWjQmhh4I-pAu2sCVMVODJ');
CREATE TABLE "roles" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "source" TEXT NOT NULL DEFAULT 'local',
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);
INSERT INTO "roles" VALUES('r3i_1Gv-9XgLTpqf9cibbxVy','admin','May do everything in Gatehouse','built-in','2026-11-23T02:40:11.695+00:00');
INSERT INTO "roles" VALUES('6ipOmJxCZIJ5xYnLX6EI1spi','auditor','May look at everything in Gatehouse and change nothing','built-in','2026-11-23T02:40:12.476+00:00');
INSERT INTO "roles" VALUES('A9-eNXHVI9TXet04QXgJvMKo','support','May help people who cannot get in: unlock, reset factors and passwords, end sessions','built-in','2026-11-23T02:40:12.642+00:00');
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
INSERT INTO "settings" VALUES('secret.pairwise','"v1.JvsG8psY.nGA1Q20igpqOsbiXAgmDh545hqtDXn_JSBOInDoPgc8ssHUfGzK3AO0yvm1Hrm7_Zq3F9YtCbDCONGhM4L9KCW70xtrTbF4"','secret','2026-11-23T02:40:39.133+00:00');
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
INSERT INTO "signing_keys" VALUES('I7hdGRLX5UeMbX_VxxX_Nknb-I2cV043jb4VdsKq2Vk','oidc','RS256','{"kty":"RSA","n":"sgU8wUMzLn_YJTXOMqT1sxerV7LjWYcdUFGynBgsSOet5JZCpmh003Zk-QgrRHrqAU45gtlWzeHBduRE0RBIdfHrpvU3EiK1aK4Zlf5suj9aCCWw5C5bP8OwpvKUXnqllg1johUmmBEIpQaK0xJ23rMeFuUu0Bvo_cqc66DKbjvPtgLlmrIjkDMY1_sR1ww9UNrqQwZldgbHG_FJJo2YHoaQtQ8LSDZrWZjKsWKRaX60PX5lElBfZQgai9ARn_diF_EI6qc15UftOfT8DXijL0xzJk6oL-cYOv8-__D_DuGwHgpG8BK0Jl7xK9_tA4BZGezkT18rXDHW5_ryBHOYzw","e":"AQAB","kid":"I7hdGRLX5UeMbX_VxxX_Nknb-I2cV043jb4VdsKq2Vk","alg":"RS256","use":"sig"}','v1.JvsG8psY.JUluqtpIMyqNJS0UgNpa1r7_PnQnccoMIPk1dEHfr2vF4yJ2aHxz_S1fCPbrw2FigI4DER0ohsYPywgyUmJ8kyFKNIW-_7uFPRBTCP9rZKCZqXmHlHHJ2xTNdvvH8aTHwdI8Lr1gZ5YN_yVNQhGRS2zO42gRPpm9G9uZuxeiAMiaqJLIUSAjr1eh6u1oWigjAjdXDQCRhNDQjj__BFwmaGuZtILA5ooRbVFJgO-rRWS8lkIkq26IrSojgt_SxEbM7vnslxb0R1dXatcXqih_BIBkI6ojkje7qWdV6iyTbYBrAaa6DtWWHcXsjhV6KxCKo_PU-uOeNycSTkEiQppj07V3RZ7ZnEggzkxpSp7vThUrkP-UD1iWRm-W87LbqA6Ci40XKtd_C02elohTfi7VWGwKZW-nGojD_pkEfFE7_symi6IhWm0JTWbFOkriNiD-6HtZ2569VcRAXbMmb50wwsGiQy3W33YwXmiro6GSa7U_0aZjxNui-C70BcTq0XBBmdBJKImallZKYR__GhakXHTWbeSYeUJNzhA9IkfJ5th2Gg60wViI6hp65Q5ZurWPPG0i_PbZGTfG2T87-2xr33ixpi52uA3sBi_U_XDcVRLPL_VlYwgfe1PyRFqGS7r_DEldczYC1ysyKkljNxLiWjjvLZ8nbzFioS3PIr0fCj1bzq_szrWAH2QmIqaUkvOKgF3GX3KtgSttQwWkOQddeheX2Au4pjrd4D2WSmQi9XPzkpUB58Dk-YHQLOjb-a5_4G1ucmiVudGXtraWbHXkxqN1O4ksmiD_9z5BQ3pN-C8y2Z_UOHKSbCglxjqXDF5uVXqFnpkuptnpzpvWJuFUkl8GoTha_E8IHwFeJ5pv5AFzimCYwEyyVeD1V4pOYN_1yAFdimfYLUPRj1kYMEXGx-6-4oI4b8Q99vBHbrt0Rhn9rn0ec7tUKX9xCEcapZnV6UtA9SB8xU323RMx-mHiNDIi0SImvwyyS08H2vsGGSvsPlJKcAbXpzzd706J9cDsGTKb5xuxuNYtmq2N0QZPX40-TuP1gWRIMS_NAwakpRvnxS1YAAM2rNgz6_-S3tR9oD4ObCHBHcALrm8jbBWZhnpDRgzhngzIP4-Az3ckN1_sAB9ChW75STtdElsNbPsQpt_aPopCqg-HQi_5RdVAv7IHJUJfQu6E8eDBqIYyCo8TA4TQ7Svxc9i8XQdYeYrR1hJmRJAPUA9QglxFBtekjiHKaFVofDp6_RUhgH7Fmwds_5Vot0dvN3BYKFFKfn4AOxE4D8QCtKskRPL8C87JKlf2QMrAz121pvSV2TuUIle6Tzgp3tL8kXJKqhjSRy_vmDkfK2PRNOv-Q4x8BXi0zYOQpu8KhNwOjRk6QOeJJUw_02LAClLJm_3Gtyfe2XAffEVXG3GU4jsTA4Fp0bOPODyIUe9Cs0LXHDCpiuaSpKL-cn9WlIqN7zib5aJsAGJwFPo2BWQA0c6ec0nijvHXxMsFOPz9_Rt8z3BsrIL7c_9Wm1VbIjXQGcsq-_WrQaY37lLGvUz5CliJ79xRVcMP4K6Q9iM6YrK7ovrSW8M_95aYNUDB_KqYKDJ1fVsRLcpvoBkJvNsDYArfhn2Kb-PClOZ_gjX8-XxzBmfhQRE3_TMnzIDBjHybZJXRHiyiqZg',NULL,'active','2026-11-23T02:40:37.607+00:00','2026-11-23T02:40:37.607+00:00',NULL,NULL);
INSERT INTO "signing_keys" VALUES('st4dfpXAbPa-xFovJ0yaT4wgz_B2q-Y8sQXGcBGCQLg','oidc','RS256','{"kty":"RSA","n":"t2ZjmmFMuPJUFekAlfs2nT5OSQvNpKqQxadyKH--GLd_vVuMOVOGXnZLRB2kBoEjPxGO_wr2WncekUG6WTJ1o_wu5Yku88SHmw5HP6sE2xUfXcwtqF7-9FZKx8LW7bz3yuzFX3XZ0HfpfG5_gHcvn95hmsPTrjun7feetl1J7H49vmkuADg_dNtnSuIoxAWFuDpruslKUbzJ_cbg4XnKlgD-3pEvVM3T97x0qjsMtdkf-yBsMo-zpufrhtgiiHSCojo6mP5ZrcM1N5KRmfaZcwasH-08t7GGJC-bySyho7jScqh--XQvWvPQk-llbx5EV0UJRgmKKrV_x08KoEk-TQ","e":"AQAB","kid":"st4dfpXAbPa-xFovJ0yaT4wgz_B2q-Y8sQXGcBGCQLg","alg":"RS256","use":"sig"}','v1.JvsG8psY.g0jXEe0OWGJkDv_qwB_7MW-YG1yDviYG1Ey0VgR3CE4ytJq8jkQA2rpin9O0SuJLPcW0pplMZRwuGESveZZV9Hs9Cl1iclA2UyKtNZI6pUkxaP_Ti2XMNQ_xKUlZabtFLYa5Z0apQXZM2rJ2QTC6oSjHM3S9smVC9bXjuTIH6UC0oLRV5gcg27jeBNvTTVn4EtdPmU7T43Rzbusdkce1JEZxpQUeLlO3UanPnUkIp3VU2ZR6tTsfGxEJN5FqmdGlecb2VvlOA9MKU0x5-FxpR6ho93K-DBdQal3Tf0ibwXRCEiUgrXnnQehGiqilDIVZabShpw29WCNaPGM1QfPnHb1HuYw8YvYjJzSXBo2L2Lgj_vAcqUtfJ2evoZBMt6t_E_x6qgemUdYrhhpeSwl7GN8O4tmrew5GSxjxe9RfzF68ToG7sAor9dmY0IizfrTvJz9RDRTvqN8cfZrBOpTyVwPuqjL_jfiOgCNrDlsYL9ciIhOQLUWZQnpaT2w9Dy3HBZpYAq3PnUpAGv-PKBbfHHG3-nH0rgNqzZdNZOCXEvFdDGidbqWqQwtTzZVCzJbirSpKK1vI1eBG_EqO-eG3NsYykWzSjdt_kMi3qyyN2of-Bvv4K_G5z9HQ2R2A8M9Nkm8YgQoIvtpp_L68SE3BF1uYaq2Hbr9QyKp3VdWmydD2D0tAqICsa46bR9OYeVPY5iNycRsgCdbLnBOd7-9NxRKJCrrm9Rc5iwXiNhc40X3DcYmoCWmUHefBwVqBX7VjUQdb0xV1AhyFrgF2v75ShSnAGFWYDDI1jTTHTBhUAzdgQEaMU28Uo445v5xckmBwB5pJkbmpRVdaPfTaHNDSftlNbsmoSdeHOUS5pf7PqCeRSpcRBhd4bc55ENdq9XHDdJ_y5kCPQdA2T8HHV6rzlSmS63mcf4LIBpUn_8u5mj64-PU0iphy--1ScwAVUzHJ_3C92vnEY3ls0BmZ1iLq6swTxWoFLSiAm17hcyE1Jb-z42kCRamF1-A0mccJJtq319m2Sl-rApuvmoPMe57coSlwnoe1jY5EJT4g7ZiT5VNDVK-Gv3PJvCDgiqv6nFFWI0GYLG52NBLT_4n3ebbDJe8j6WGMT9Onhknbucfx2QbbOMOSBnXx-b2mGl5WZYCJSTs7OqM7d80NM3zrJmPkCHXO57V2SRDTa5Yn6ATwLB2xAwwOooBId7rZAseiXYkADzfFdYT4mwT1CIAz2_cPWRvRUmPgOVNnQvk9Q2Qr38AEPwJkxR28fv9sJnSgb2kY6r0Hbm2FofFwMSoK8GVlbqX5bi6Ry5j_5QlKgCIduGwSWjC2lV_pBGJSmrniRc4RvVsQvrLrzMfK0m3lcd9smPE1Jig7vXnmWLlOYSq-4W9ExxhROxIKugjtoFvMqf0K3BO0QWKairN9yoMO5E-XRFNHYAjnA5MXZFq2bZRyLJ6jItVZuDISKC0lT8oZFlNj3bMWsgDAis1IAnVoC9QdKM5XSmEYAJrEi3FvZ2LWpePt_Co8bn2JaxWok3r7Wa_iIq-0wAKgjAIlFXEHRI33UELAdxWkkXqt-LfR4PUZYFjRtNNk0YC7inIXPRbtXacTwU3kfRq4H8AnXEdBEuGvWC_knYXjNbA1OXVNJzao12jm4OdtulZfiXLoSE-HKA',NULL,'next','2026-11-23T02:40:37.097+00:00',NULL,NULL,NULL);
INSERT INTO "signing_keys" VALUES('mSrpVOltfs04FcxnS_auHhbFTzz8FPU4BOHWm7waDVw','oidc','ES256','{"kty":"EC","x":"V02h1M_Hyz0dyN5-leKFzdW1ugEEX4ZkoLWeZCywQAI","y":"Uk1X3zrN9c43mo64HOwuJgghKhej2s3xAYKkPIfNtm8","crv":"P-256","kid":"mSrpVOltfs04FcxnS_auHhbFTzz8FPU4BOHWm7waDVw","alg":"ES256","use":"sig"}','v1.JvsG8psY.X1BfpRGAXH1ltYl71Jg-7KOx0RByTG9mjrhV8Bu7YQuVkubfUgis78IkIgEB3GqDCyBKPrLt1p5dpbAXVuWu5abCDMteJanDKqpTlLzP_ZchwghFA5GAHZ1uBfnfIRVcVpgEv2FBFbmV_HFknhRG77rTSKiG3AOQr2jp0UWbzo2Z1HOZgBPeA5trSzogjU_rBZzzU3Xh1CmnXWQMzgmtTUfiLjpSTA',NULL,'active','2026-11-23T02:40:35.543+00:00','2026-11-23T02:40:35.543+00:00',NULL,NULL);
INSERT INTO "signing_keys" VALUES('J1Ix4PkuLNlAMY4umcriyVoZIMdWDEKKPJMgg1-LQVM','oidc','ES256','{"kty":"EC","x":"P8UXIZ4YStRt2-Vb7ota_Fa-JaoGoNhfUcdakYMJsEQ","y":"CMsuhcvWbMSqrqH8IIqpaKRxRzk2hNd2qYgv-dsxXww","crv":"P-256","kid":"J1Ix4PkuLNlAMY4umcriyVoZIMdWDEKKPJMgg1-LQVM","alg":"ES256","use":"sig"}','v1.JvsG8psY.3OT0UGok7sT7meI1qwe9EcocI3qu1PlFRZE5SgiKn6DsP11TrLi4FGeNHK_AbslN6xGWvWTRryKY3PehWZeGxdXpVyhmNb4Hp42d5W5QXUOpNDXDTfKOLqwb2J75V-8AvGacxEMo9Tcx69JNWykTOLFCCtjSRSH_7sNncnwrPSQpNYi4HV1ikzkPCoDTrBReuOKrrFnSrlWo3SZQ8fdFv3a6M8Z6Cw',NULL,'next','2026-11-23T02:40:35.544+00:00',NULL,NULL,NULL);
INSERT INTO "signing_keys" VALUES('Ht0onl3lhl0AyeCEufg1RDvrWWotYvBLevGjyDyvWw4','saml','RS256','{"kty":"RSA","n":"iz2xaAI2qnVsafM8LORRbErIYfz_lvFgJxgEn9htMNOEgLD59rj5UFNyp8k5E5hS-P1LPgqEIX9idf68trvH1FdLxLmO6AdinDFlJ6tPrkgrkkTY4yGAg_3b6OGwuplMuTGHKfYLjiSHQHnXzvUaAbdVEMkwVALbQRQ3lMR8POXMRPuEkpgh1oI46DlY-klESgmshFKBAr-YERtASJv3B_3JuBh2qejIB9EC8qoDBPbS2WpNSKD6DCxBCsGlL-gkszj9TTWtTFUfzWrq0yWV_T0ibdD-pHo3XnM45uJ5AXGXdsQwmdIMnJcYba8xfAkDZ3pqVg3ynuQigWsNw_Tv6w","e":"AQAB","kid":"Ht0onl3lhl0AyeCEufg1RDvrWWotYvBLevGjyDyvWw4","alg":"RS256","use":"sig"}','v1.JvsG8psY.8XTLr3kq6OTyQxdt86FbV4mvtFJzXARx2DHwk9IhqgpOYmD644np3-63NY5aZsFUT8JtoqkAwnmhRpatJoN7XtYhrvYNe1TtK6yj0x3a0U2sqxgPZkuJYe9LuOKXAClhXxMDOud9yzN-5_r_4ZjlZKbW72JC8mEzuh4Xce70nOJshXMh6BXABg-QarP5Nywr_ZYW5A9I8pi-9p7Bx9iQNeoLNE9F_zjPYH6l4FCS1ixhug7kOgz5f1CAH8dlKKjTFeHWG98SYSlooykAW6ur1xlaEyssnZ6BE2ey4wq8ImCMcVgcvL1xOQALc53uekaZzcYNicBSwrjItY-zt7T7j1Z2f9S8RLUoqhlElIRi3s58Y9aadJVL9cUtUYEwDOOXwx3ppmGCZyjahmj8MDjkCFa7GGnxp82laK0AAiFuTDGjQVutMVIwz4JqsqOZPuffQthjkWIP50t061wDT3EXG2WYEOOfqa-wcRGS_mq2YaavvRwq8EIHgA2yf2PShEfwa5j5oTMD6VuH_knZROW5Opsr1EdJvTbB5beeHFKrBae0ve11ZHQqNalvCPx1Omv_EsQaCp-WMKs7r4p1bOG_4buXnDgbswy4_9TPyQMBCgyTUShZDs4ubtSHoJq-1rDFMmpzd0c_OWEKWzxI4YqeAjAaLmqu3JJiDtUJ-VbG8xslF04-lmqCvNnAm1YaplaTPkB0Zro_R1uUCOsF9NWsupRc5PyFizO041URsjKWQeYoyVG37vEtPDl3BfUVW2RmtTlrt_vXHL-yTmFe92ebFxviWcuGeKoKvnMealpTwF81fpVVJmXOs0isThY9suefb8KcO-6oqEB_NjVWgdvWRDfhrAE3sPUrWiJ_wpGU6QQbdoMdnj87AkTh3TqraS39hUMqWkIyedhIOm9xnIrP4ese1Q1OAyo2-515-XMVTFJ7SJXmsGliltgkd34ejVfJy50yqzQGRKUM_K1F2A9vsxhLIWIcOyLx__ohRBpiSRL0kA67CJcoWxHaWx3O2eNkJC5KipQ10ED_Ob2qg3DxN96eS6WLGTN-D0RzvzoS9Aws4cWeHV5UqQH6khUYL7iBsuK1lGoGeHgFJl8_Sp7BP01dY4oz5576SwbNO9NvvY1NWbWdZMg8-LbFA0rxAN72fItF6rvWbLIygksWgIcgiqHMPZ2RX89gGJXbbta8_qcFlJFV-R7WQUmS9uI4SIxabImvboJy59AGlxN_gGqJ-t7wcfqI1l3lb4mRPsum2R5aJkMOItSqSdI98dybHXuVQCyf9ODmxRzFFVm-TxMxNfyXG_7Gui9mPYEHTQLM30FzmabQ_xISjX1VRXbWNZ75YT9t3q1vsXwq9y_27ZiaybggNKkkAt4S_lDBOuMpP3B_Hjn3OlE_QOb2ZP8ICqQc8vw9EWJJeCXO5vudUxgQgX8KIcSTdWY3DrjJvcxELw9qqK8T03e2TBS1qqDZm0qk07cP7DVTwRRPFxbjI2X3vEYmJS3SZSQ0poVacwm_BZVPXQ5jI7k_51NZcSOVcZOgERklM_XdR9-WeDY-hVRBpiygKZD6pMtZHn2dlQadbEWsH98cTq4fnRnPE-ZswTw1lEiN7byNqO0JJV4dEjBLWulpaLEMXwivJkZ539cwp9Y1n9tBFf4pNvWUtEathNg','-----BEGIN CERTIFICATE-----
MIIC4TCCAcmgAwIBAgIQdoPGi1f8EXWMOCYAxHRt5zANBgkqhkiG9w0BAQsFADAU
MRIwEAYDVQQDDAlsb2NhbGhvc3QwHhcNMjYxMTIzMDI0MDM4WhcNMjkxMTIyMDI0
MDM4WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwggEiMA0GCSqGSIb3DQEBAQUAA4IB
DwAwggEKAoIBAQCLPbFoAjaqdWxp8zws5FFsSshh/P+W8WAnGASf2G0w04SAsPn2
uPlQU3KnyTkTmFL4/Us+CoQhf2J1/ry2u8fUV0vEuY7oB2KcMWUnq0+uSCuSRNjj
IYCD/dvo4bC6mUy5MYcp9guOJIdAedfO9RoBt1UQyTBUAttBFDeUxHw85cxE+4SS
mCHWgjjoOVj6SURKCayEUoECv5gRG0BIm/cH/cm4GHap6MgH0QLyqgME9tLZak1I
oPoMLEEKwaUv6CSzOP1NNa1MVR/NaurTJZX9PSJt0P6kejdeczjm4nkBcZd2xDCZ
0gyclxhtrzF8CQNnempWDfKe5CKBaw3D9O/rAgMBAAGjLzAtMAwGA1UdEwEB/wQC
MAAwHQYDVR0OBBYEFHxFbfvniXZwrUahS4jeQyDQc/WbMA0GCSqGSIb3DQEBCwUA
A4IBAQAVYg6nCaRM1LkF4ZySFXA3mbFmNUtaETVYi07Q/Tz8qhLcnOT+PT+qftZL
QLB8Pqr5RveFPeXdLBtJrLn6mUPIDuCuMHYuaRyTOUGe9g2ZmkjHxT1KI+exmpuG
cWTYZCOGQZqXBiKTI7l5vt1agK/5AvNuVfy7yzfFXobl2C7jseKgWJjFRU14nXYu
vA/a22sF8wQrrTO1wvhR6/9pEPIpkP7qkC4wJAGp4aJXoQG5BJBZpHby8Rq0dIjo
tEue5ccER/ruCqsrTb5K4HdcZfADxuMyAaBrG55xp6/zAouczti3XQf+zyZcdHku
xOV7Kc+xC3WrIP7LiuLED71q5IvD
-----END CERTIFICATE-----
','active','2026-11-23T02:40:38.065+00:00','2026-11-23T02:40:38.065+00:00',NULL,'2029-11-22T02:40:38.065+00:00');
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
INSERT INTO "user_roles" VALUES('4ZwGHtHdbx_a0OPxxyjJ0TTv','r3i_1Gv-9XgLTpqf9cibbxVy');
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
INSERT INTO "users" VALUES('8UjaeHMGFZjCdeTG_97P3BpJ','ann','ann','ann@example.com','ann@example.com',1,'Ann Example',NULL,NULL,NULL,NULL,NULL,NULL,'{}',NULL,1,'local','2026-11-23T02:40:13.731+00:00','2026-11-23T02:40:13.731+00:00','ann
ann@example.com
ann example');
INSERT INTO "users" VALUES('4ZwGHtHdbx_a0OPxxyjJ0TTv','root','root','root@example.com','root@example.com',0,'Root',NULL,NULL,NULL,NULL,NULL,NULL,'{}',NULL,1,'local','2026-11-23T02:40:21.239+00:00','2026-11-23T02:40:21.239+00:00','root
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
CREATE INDEX "refusals_at_id_idx" ON "refusals"("at", "id");
CREATE INDEX "refusals_client_id_at_idx" ON "refusals"("client_id", "at");
CREATE INDEX "refusals_subject_id_at_idx" ON "refusals"("subject_id", "at");
CREATE INDEX "refusals_request_id_idx" ON "refusals"("request_id");
CREATE INDEX "refusals_expires_at_idx" ON "refusals"("expires_at");
CREATE INDEX "oidc_artifacts_account_id_model_expires_at_idx" ON "oidc_artifacts"("account_id", "model", "expires_at");
CREATE INDEX "mail_messages_created_at_id_sent_at_failed_at_idx" ON "mail_messages"("created_at", "id", "sent_at", "failed_at");
CREATE INDEX "mail_messages_failed_at_idx" ON "mail_messages"("failed_at");
CREATE INDEX "audit_events_type_id_idx" ON "audit_events"("type", "id");
CREATE INDEX "audit_events_type_at_outcome_client_id_idx" ON "audit_events"("type", "at", "outcome", "client_id");
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('audit_events',16);
