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
INSERT INTO "_prisma_migrations" VALUES('7ae984c1-57cd-414c-9ba8-d9c0e6f897cc','f4563fc438b4239bd35c69e4da8f6ecf896abbc5c6a1e07d66c6cbecfb3bb9dc','2026-11-23T02:41:28.004+00:00','20261121091642_init',NULL,NULL,'2026-11-23T02:41:27.943+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('61c179d1-11e9-4422-9409-5d1d9fc7b9f3','f6f216566691f838e9099be6bc6a62592e9ec8a88d4881307636cfda0a92f195','2026-11-23T02:41:28.034+00:00','20261121102220_lean_artifacts',NULL,NULL,'2026-11-23T02:41:28.005+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('6118b1f4-bd9e-4b04-8228-83480f5f9ac7','737ba1f1cfff01dc9bc34ca35bd6ea9081939f2de4132cb5e7f11b97d9680a8e','2026-11-23T02:41:28.037+00:00','20261121102420_audit_chain_and_admin_api',NULL,NULL,'2026-11-23T02:41:28.034+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('e3d7fa8c-fc43-4e71-bf82-ee2a6da9685b','dee26b57c213104fc5ef49e2cf173023d91f6fddb3362b5e2f757ae827508455','2026-11-23T02:41:28.084+00:00','20261121102726_logout_runs',NULL,NULL,'2026-11-23T02:41:28.038+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('dedd60e5-4475-4184-82dd-ea7467973b16','48aba72637ad82f2a976446adbb4803137b142baba323ed2b05a7a74e8d9503a','2026-11-23T02:41:28.133+00:00','20261121104606_phone_factor_and_verified_passkeys',NULL,NULL,'2026-11-23T02:41:28.085+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('5c4439cc-25a9-4053-9d90-0a8a22ecea28','259d3069b18219f7558be13415d3c7163f342c22300cf8679a066ee2c918865a','2026-11-23T02:41:28.148+00:00','20261121231829_refusals',NULL,NULL,'2026-11-23T02:41:28.147+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('31d72999-57bc-4886-bdec-6537b3bea142','5cfae981ebdfdfa76e69deb9d0eb1871b86c9e31d7fe75f3c259b382cbb38827','2026-11-23T02:41:28.191+00:00','20261122022102_list_indexes',NULL,NULL,'2026-11-23T02:41:28.148+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('c02e4f4f-2be2-4ca8-b016-aa2e55d27cf7','98169f47edce0d19d3497cb866ff16de1f3679ca756fb01b35c1ec73ac6ba190','2026-11-23T02:41:28.194+00:00','20261122164934_grants_with_source',NULL,NULL,'2026-11-23T02:41:28.191+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('1f4c825d-b116-40a3-92e6-5e030ad4df22','341d13c1323a0eb5eb560ce632335cc0f0db39ae08da38a3219b5095213fc7bf','2026-11-23T02:41:28.307+00:00','20261122171311_totp_parameters',NULL,NULL,'2026-11-23T02:41:28.270+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('1653cfa1-ae3f-47ee-8250-a4e2d6a64962','93ae21879cf2ca08196632a92c92d76e2e12d8156581112f963edb5d3b3fad75','2026-11-23T02:41:28.309+00:00','20261122171358_sign_ins_in_flight',NULL,NULL,'2026-11-23T02:41:28.308+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('25d43016-f548-4179-a981-66dd1c66f500','45dde7568d4026fb2209b81f9c4ade528de9e27126a0eb748e0989cd1851ce88','2026-11-23T02:41:28.398+00:00','20261122172626_audit_row_macs',NULL,NULL,'2026-11-23T02:41:28.394+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('9c93bd8e-3a4f-474a-aad2-01c847f4c7d4','0740f53c34cc7b15c78f4304cc64bb8842b11dc30d42336e5f4eba49ff8b65d8','2026-11-23T02:41:28.461+00:00','20261122173525_application_users_and_scope_permissions',NULL,NULL,'2026-11-23T02:41:28.458+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('a38a03dc-f287-4629-bc84-1f81e79db5fb','378bc2b4994df61f64e0db6e165d4a397c7b979550436b63332b86d2ae5e5e89','2026-11-23T02:41:28.521+00:00','20261122174830_password_kinds',NULL,NULL,'2026-11-23T02:41:28.461+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('dbda4eaa-554a-4f36-a1f7-b51620ee63eb','ba7664ab0ff1c60e0138ca97827aaf751bbbb0f0a98209659c210781800397d5','2026-11-23T02:41:28.534+00:00','20261122180121_first_factor_approvals',NULL,NULL,'2026-11-23T02:41:28.521+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('2afc5fa2-b27c-4546-b60a-112259989cce','cbd7885c5a5abcd372de77cb22fef75c7e3bd8ed431a2d72f740cd419d9888e8','2026-11-23T02:41:28.673+00:00','20261122181645_row_macs',NULL,NULL,'2026-11-23T02:41:28.535+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('330c7387-0798-459c-8951-2c79e0be45f0','d09ed7e7bda448951cf884d308e9fe0d98b4deeab040bd781a6751fd6754cc56','2026-11-23T02:41:28.674+00:00','20261122182251_saml_metadata',NULL,NULL,'2026-11-23T02:41:28.673+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('3e080df4-cac4-4fb1-b286-48233935d7e4','ba0a22b67be841a91782566d341b66a01a8a928d98c7180d65f77e3dbe17dab1','2026-11-23T02:41:28.675+00:00','20261122182748_stored_forms',NULL,NULL,'2026-11-23T02:41:28.674+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('daf405bd-2011-46b4-bf10-8b73290cd4eb','0215783f36b7991792f0d7179b066e7b51a09619c0c68edfe4077e6e32f7b015','2026-11-23T02:41:28.676+00:00','20261122193449_connections',NULL,NULL,'2026-11-23T02:41:28.675+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('d90864ea-5e75-4c47-b299-d24a101825cf','2f0ac79442d869cb1a5bac30810bd6994366a6981efcd0583bdc2c5a28fa5523','2026-11-23T02:41:28.785+00:00','20261122194300_standard_claims',NULL,NULL,'2026-11-23T02:41:28.677+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('533b9f81-7510-42a0-9975-ad13568aed1d','8f17a9d6888bcecac9bc45a6919869c58a361b29ab243d82afc371c37f3eaffb','2026-11-23T02:41:28.874+00:00','20261122195031_first_factor_after_reset',NULL,NULL,'2026-11-23T02:41:28.786+00:00',1);
INSERT INTO "_prisma_migrations" VALUES('584c7f26-f738-4e6d-9c74-1264e4e55504','899a6bb8e264a9a9629eb1008db6b3f5cf0c487cd2aec09221fc02b68b92a3d4','2026-11-23T02:41:28.978+00:00','20261122201304_row_macs_everywhere',NULL,NULL,'2026-11-23T02:41:28.892+00:00',1);
CREATE TABLE "application_roles" (
    "application_id" TEXT NOT NULL,
    "role_id" TEXT NOT NULL, "mac" TEXT NOT NULL DEFAULT '',

    PRIMARY KEY ("application_id", "role_id"),
    CONSTRAINT "application_roles_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "application_roles_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "roles" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE TABLE "application_users" (
    "application_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "first_used_at" DATETIME NOT NULL,

    PRIMARY KEY ("application_id", "user_id"),
    CONSTRAINT "application_users_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "application_users_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
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
, "mac" TEXT NOT NULL DEFAULT '');
INSERT INTO "applications" VALUES('PeNbY_Mf6h5nIPdShjBhXd9b','shop','oidc','Shop',1,'implicit','everyone','{"application_type":"web","redirect_uris":["http://127.0.0.1:4000/cb"],"post_logout_redirect_uris":[],"grant_types":["authorization_code","refresh_token"],"token_endpoint_auth_method":"client_secret_basic","id_token_signed_response_alg":"RS256","subject_type":"public","response_types":["code"]}','local','2026-11-23T02:42:01.157+00:00','2026-11-23T02:42:01.157+00:00','Ngk-gErl.a-2ABpf4ddQzPhZJLro4pt40x3DDXPhZbZ8oF0Yue7M');
INSERT INTO "applications" VALUES('4y1YaJrl0Ll5vqJP5oksN8Gb','https://wiki.example/metadata','saml','Wiki',1,'implicit','everyone','{"require_allow_create":false,"attributes":{},"sign":"assertion","encrypt_assertion":"auto","idp_initiated":false,"allow_sha1":false,"metadata_xml":"<md:EntityDescriptor xmlns:md=\"urn:oasis:names:tc:SAML:2.0:metadata\" entityID=\"https://wiki.example/metadata\"><md:SPSSODescriptor protocolSupportEnumeration=\"urn:oasis:names:tc:SAML:2.0:protocol\" WantAssertionsSigned=\"true\"><md:AssertionConsumerService index=\"0\" isDefault=\"true\" Binding=\"urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST\" Location=\"http://127.0.0.1:4100/acs\"/></md:SPSSODescriptor></md:EntityDescriptor>\n"}','local','2026-11-23T02:42:11.640+00:00','2026-11-23T02:42:11.640+00:00','Ngk-gErl.-deTZuSgCBkc4nIV9LGC7nTdFJ8v-10PgNLcVxPU8rM');
CREATE TABLE "audit_chain" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "seq" INTEGER NOT NULL,
    "hash" TEXT NOT NULL,
    "mac" TEXT NOT NULL
);
INSERT INTO "audit_chain" VALUES('head',25,'fb311404a5cbe23745ea2c58873d1f368ee6202e4fdd208b8379dea422c8566a','Ngk-gErl.4s011ZoZNmh7_tIVhg77pAgrPPpbaimLozdZVeGhR-M');
CREATE TABLE "audit_checkpoints" (
    "kind" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "hash" TEXT NOT NULL,
    "at" DATETIME NOT NULL,
    "key_id" TEXT NOT NULL,
    "signature" TEXT NOT NULL,

    PRIMARY KEY ("kind", "seq")
);
INSERT INTO "audit_checkpoints" VALUES('head',20,'a24bd86279c8d7c2b3f3c815b0a92f6c149b730ef81d0154245df413ba70e4a5','2026-11-23T02:42:33.192+00:00','1yiKseoG','UtX4Su12pMzzYhBto1R2KVfFaRi89M7dDg_ojCMI5jFr1vVC3Sa8RpV7p0mOB2sIkCQFAy2mHvEDSOnpjyczBw');
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
    "digest" TEXT NOT NULL DEFAULT '',
    "row_mac" TEXT NOT NULL DEFAULT '',
    "chain_seq" INTEGER,
    "chain_hash" TEXT
);
INSERT INTO "audit_events" VALUES(1,'2026-11-23T02:41:31.398+00:00','role.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"after":{"name":"admin","description":"May do everything in Gatehouse","permissions":["gatehouse.users:read","gatehouse.sessions:read","gatehouse.applications:read","gatehouse.connections:read","gatehouse.roles:read","gatehouse.keys:read","gatehouse.audit:read","gatehouse.settings:read","gatehouse.mail:read","gatehouse.users:write","gatehouse.sessions:write","gatehouse.applications:write","gatehouse.connections:write","gatehouse.roles:write","gatehouse.keys:write","gatehouse.audit:write","gatehouse.settings:write","gatehouse.mail:write","gatehouse.users:unlock","gatehouse.users:reset-factors","gatehouse.users:reset-password","gatehouse.sessions:end","gatehouse.roles:manage","gatehouse.settings:write-security"]}}','ajeGY-lyF-Cz6GGVs-i7YQ','c305891afb2e3480123f3daec469a4a4ccb1aca4ab50a7e96c1880ab25ef86a0','Ngk-gErl.msazWpf4txfXF0FiNzK2LS_vJJzZnsqtUId9Gf2uE_A',1,'ac2c0625451654926a5235c1f459364fc6e104cc4317c67d508b783d1b7adf2e');
INSERT INTO "audit_events" VALUES(2,'2026-11-23T02:41:31.494+00:00','role.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"after":{"name":"user-manager","description":"May create, change and delete users who have no more rights and no other roles","permissions":["gatehouse.users:write","gatehouse.roles:read","gatehouse.users:read","gatehouse.users:unlock","gatehouse.users:reset-factors","gatehouse.users:reset-password","gatehouse.sessions:read","gatehouse.sessions:end"]}}','nzlfLb2mVbGPAVJ9xyJFRg','a13da81094e818566e5d793b548e1c55ed8494bd81dd9d5784ba32835bba5a4b','Ngk-gErl.nmehepMZ4orvCpk3X_EGBUaa95XzuwWKhxg2e2XMHAk',2,'675c24d926ac5ca1c4c08e44d4050476026cefd11d2a52668c02abb1dfa0eff6');
INSERT INTO "audit_events" VALUES(3,'2026-11-23T02:41:31.585+00:00','role.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"after":{"name":"application-manager","description":"May register, change and delete applications","permissions":["gatehouse.applications:read","gatehouse.applications:write","gatehouse.roles:read"]}}','bu_C1XAuIvdLt0u5LVM1Iw','bfd3f9dc5d64127ea5f337c6e1fca74512002c06aba9d0d5ccf8a758326dd528','Ngk-gErl.PVMW7tEgtnTILcbHFTJVfdxtDg90-YciM9xBSkhkSqo',3,'241e2ee0a2a69c7ae1b6389f2abb08f4d284256619fb782b14b574750b28d397');
INSERT INTO "audit_events" VALUES(4,'2026-11-23T02:41:31.677+00:00','role.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"after":{"name":"auditor","description":"May look at everything in Gatehouse and change nothing","permissions":["gatehouse.users:read","gatehouse.sessions:read","gatehouse.applications:read","gatehouse.connections:read","gatehouse.roles:read","gatehouse.keys:read","gatehouse.audit:read","gatehouse.settings:read","gatehouse.mail:read"]}}','TRfVZULIvhwnrg_3ZxeCgA','a1c2c42be593f1f0d56ba6cd2582a70ab9be8752566c4d97e1feee964a771255','Ngk-gErl.c7yvFPlJqNCHS_sziLXQ7esw9K0oChSkC1YndHDZ4mc',4,'c095f1d87669334d7ae6c018866827220ccb79832140780f3e1da87e2f6293c5');
INSERT INTO "audit_events" VALUES(5,'2026-11-23T02:41:31.785+00:00','role.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"after":{"name":"support","description":"May help people who cannot get in: unlock, reset factors and passwords, end sessions","permissions":["gatehouse.users:read","gatehouse.users:unlock","gatehouse.users:reset-factors","gatehouse.users:reset-password","gatehouse.sessions:read","gatehouse.sessions:end","gatehouse.audit:read"]}}','pMC93mOC1tXKQJsMRYko2g','bbf8c19100bab37aa90ac6869940da3f0501ee103e6267ee71d00c605c8e1e52','Ngk-gErl.uQllSBBYuacxNGJBwBPEB04oDwA5F-xQVajhRtDgRtA',5,'c867938fc02d437011a5b04edb9a752984b32cae56965ffb0b140cf6a2034b06');
INSERT INTO "audit_events" VALUES(6,'2026-11-23T02:41:32.560+00:00','account.created','success',NULL,NULL,NULL,'EeYJwxbvvhALigE5gjW-8ria',NULL,NULL,NULL,NULL,'{"after":{"name":"Ann Example","username":"ann","email":"ann@example.com","emailVerified":true}}','N7kAx9m6PCKwbCS5ACNz9w','acf536753f72c44285249ccd8d893c2518e5909eb1aad85ade5184e7d3ebd831','Ngk-gErl.tGsNRTsVxpY2YgmJ5f0cfjxqkjjjAAgbFYTyHhylj78',6,'8d77f492ece186afad3be5bc8ca0c34385e6001aafd16e7529ce3d5d78f7e846');
INSERT INTO "audit_events" VALUES(7,'2026-11-23T02:41:32.728+00:00','password.set','success',NULL,NULL,NULL,'EeYJwxbvvhALigE5gjW-8ria',NULL,NULL,NULL,NULL,'{"mustChange":false}','1a-Wkf9GJRZ9YhYVeWNcXA','4452472b13307c71f51991a32473e146a023fde3da9c5da48c0deb159380dea8','Ngk-gErl.b_-prWm4RLIFaz4YRJ7mg40SYcgOVWCvY4FRmwvJujQ',7,'df9ae9bc82dbfb382dad2b8fd6892e4f6fba55612eae2ff3a32a4c43c627c5da');
INSERT INTO "audit_events" VALUES(8,'2026-11-23T02:41:48.310+00:00','account.created','success',NULL,NULL,NULL,'tGZL0kOnOo-HJY1E565tST-i',NULL,NULL,NULL,NULL,'{"after":{"name":"Root","username":"root","email":"root@example.com","emailVerified":false}}','NPEeqO1YZwaB8r9XLMNHbA','a06089084afe81fea751afedbdba65f1a1245cc9e4bdc43fe6aa83db9937d720','Ngk-gErl.G8MlytsbPIScrpCwEB3QljNedlN2KohQkauCWxvJXQ8',8,'42ba787e0603010398e8a42e5b7d1ae926aded160fd4938deada177f7f0e9f67');
INSERT INTO "audit_events" VALUES(9,'2026-11-23T02:41:48.682+00:00','role.assigned','success',NULL,NULL,NULL,'tGZL0kOnOo-HJY1E565tST-i',NULL,NULL,NULL,NULL,'{"roleName":"admin"}','sTQdhJPmgvefmdclzE4iUA','6434c2092cdd7aa9940b4f74a2b4058b1ec32e12363d1416231ae037cbc9f8d7','Ngk-gErl.K4XzGUNV8zpZdttlKvCrRV4EtWIhn558a7GHnlZR1l8',9,'3835921f20e718e0b00cb7e0f3d1bd96d0fbda4548337ef8a5df29b750842350');
INSERT INTO "audit_events" VALUES(10,'2026-11-23T02:41:48.904+00:00','password.set','success',NULL,NULL,NULL,'tGZL0kOnOo-HJY1E565tST-i',NULL,NULL,NULL,NULL,'{"mustChange":false}','8nRi8RCHKiCXv4iV8j7GoA','692ec7e117c06ea3944e61cb3950f8f95244a3d85500073a60238e161d014926','Ngk-gErl.2XTqQy4SOWtHbt8m_pQznw8e2qyaWT0aZRat0aSW0Dg',10,'7b4d7af8959343efe765f7f3eeaf0a9ea2f3db4aca4284e7a9082b466194a0b9');
INSERT INTO "audit_events" VALUES(11,'2026-11-23T02:42:01.455+00:00','application.created','success',NULL,NULL,NULL,NULL,'shop',NULL,NULL,NULL,'{"name":"Shop","protocol":"oidc","source":"local","after":{"name":"Shop","consent":"implicit","access":"everyone","enabled":true,"source":"local","application_type":"web","redirect_uris":["http://127.0.0.1:4000/cb"],"post_logout_redirect_uris":[],"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"client_secret_basic","id_token_signed_response_alg":"RS256","subject_type":"public"}}','3zNCseABdE3km5pJw52Fhw','107791de288fbdb71ba75b9886079702df5104ca1ad7927b4e921cae65a6101d','Ngk-gErl.--ZAH_vGbPz-Zu6g-yKjulpbjKyGf0qxt_j8jes3JVk',11,'c124b5ee713d9f34ef41c76f30d3cc87361dc90191dce0c1c2abb7e3ce1a0240');
INSERT INTO "audit_events" VALUES(12,'2026-11-23T02:42:12.028+00:00','application.created','success',NULL,NULL,NULL,NULL,'https://wiki.example/metadata',NULL,NULL,NULL,'{"name":"Wiki","protocol":"saml","source":"local","after":{"name":"Wiki","consent":"implicit","access":"everyone","enabled":true,"source":"local","require_allow_create":false,"attributes":{},"sign":"assertion","encrypt_assertion":"auto","idp_initiated":false,"allow_sha1":false,"metadata_xml":"419 characters, SHA-256 ytC7carJEW9a3WTzoFrlUj65rLkTQAqLGuPQ2LnUdqM"}}','XXUwjlEYJVqL3wrgP8AxeQ','1ff8b6f9df547b6a1a6cfcbad182406121cf4ac4e4ecac82b06738598db3dcec','Ngk-gErl.rFF0Fq0ecuWSWGo-YbKaHmm-XQwgo7A5XYu2Wjl8lPk',12,'6cb3eada8bdb83143bb10b81393ccb3c7240559f08281fb6aec9b42a20c5579a');
INSERT INTO "audit_events" VALUES(13,'2026-11-23T02:42:29.503+00:00','key.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"kid":"5JqIclYVrqN6BxZL8yfmqaiFezB93Vrh1ADXlk1N17g","use":"oidc","alg":"RS256","state":"active","scheduled":true}','TJmhGDBLQRfR85c7NdZ_1g','96b30b737190f5480ef44c6a5c8f3d782d636eb6ba78e5f24c5ea42e11c55bad','Ngk-gErl.8CWf7lt8zkNVm3PN_WzV9owFdTv5hZqb6TfLZ4Z4Kgo',13,'fa46569f4d919d9b19ba47622a3061da39d3b02462a39913403e3a7d5eeec846');
INSERT INTO "audit_events" VALUES(14,'2026-11-23T02:42:29.579+00:00','key.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"kid":"Db7o4mZGcAwVchDWEMh-dvJ8qDDFSVyjfrTrSspMJcQ","use":"oidc","alg":"RS256","state":"next","scheduled":true}','aeafqtKHua3mYwy5VLg-oQ','dc979d09bab07091367d4ebe1d7a5f8bf7ad261759fcd33049f1b2ef19cb5291','Ngk-gErl.hHuxIPWvqZnJHkret0qr6tscceKYOgvZVku6h9D9P8Q',14,'1c7fe26e95fe36925850da972ddff42c353f87010a5dd5f080fe73d1346d36c7');
INSERT INTO "audit_events" VALUES(15,'2026-11-23T02:42:29.612+00:00','key.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"kid":"mOsbhKdJd3CniF2ljZi0V0fsSk8H3H2P0QGjazG6LTg","use":"oidc","alg":"PS256","state":"active","scheduled":true}','HcliXnZtR-ysqlSvRHLsGw','034693cf59bf5afd0e67c89d9d3daf5389fa30a681f140a9fe55190997935de7','Ngk-gErl.q7de7jyb40V2Ms_ElwSYaLGXReJFo86AA5ly21u1Q2I',15,'d4db66ee4d391ebf640aee883062c819b2cf3f9084ec1e94de09f832838441f7');
INSERT INTO "audit_events" VALUES(16,'2026-11-23T02:42:29.683+00:00','key.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"kid":"PZTcOqDagHj9qZtc5lIEfzzkwtEs20Ol3jdRssldDik","use":"oidc","alg":"PS256","state":"next","scheduled":true}','BTzFd22A_MQkYThBiSKjsA','791ba8f44c0a48d7532f7bd83f441ba7a302fb233c8b1723c324540f447064dd','Ngk-gErl.CSzk9iqx4F_NvCBZ4GukjENXZyanzkMEg6CAYpPabps',16,'9172eeb56d654e34725f6c1a8b1726ed3edf211b71ce90b330d42d43377bb745');
INSERT INTO "audit_events" VALUES(17,'2026-11-23T02:42:29.685+00:00','key.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"kid":"ZOSDhRdQcunNR4CH_pEoRrod-0_GoSKD9hQcHe1LqDQ","use":"oidc","alg":"ES256","state":"active","scheduled":true}','8F1VRJc1xjdtfEEf7AiVnQ','35093d3fe7e250930020e98a90789550e32d890135a9232fd33add0dd6cc99cb','Ngk-gErl.OKr7v3c7GPKzwO5E_98L-v1Kk-SSiF7ig38csaXxlvo',17,'659d77c96e31f8c3e47581699e5dbda974bf2d6e037c3dd36613ff2dbf55b032');
INSERT INTO "audit_events" VALUES(18,'2026-11-23T02:42:29.717+00:00','key.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"kid":"361aMT3QQgtQ0JhNas5xJ6y2A_JU1wGfeKerYpDpbj8","use":"oidc","alg":"ES256","state":"next","scheduled":true}','upnLkr0Z1gV2LdkwMspTLw','6dfc0872642f7721baa41b9c09a1607a7a1d25995f7e93bd248209eac0ce8713','Ngk-gErl.OIfNPFWjbVE9QJpkGcrvjr4KUvccVibeIjo30nvbARI',18,'0d9dd35fdf593afa1672d06dfd5e541b338882d6d6ffe371ecda4e11763f2841');
INSERT INTO "audit_events" VALUES(19,'2026-11-23T02:42:29.801+00:00','key.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"kid":"QDvqMULKk8Rb9bN8KwSPqwtk2Laiu1GmSN9uFDy0E4c","use":"oidc","alg":"EdDSA","state":"active","scheduled":true}','7ei3xw4dDflOk72SmNYWhg','2bf09eac65ed7903430bc9d242db5fa078fdba711be2093ae90840e274dae820','Ngk-gErl.Uf6X7M1PJ_s7OTcjCBOv0lrYp1b2sC7zaqHvoTgqrTc',19,'398c99471aea0fb82a1a7b1cac9eb386164c0c16737b0f86115f63f515dd45e1');
INSERT INTO "audit_events" VALUES(20,'2026-11-23T02:42:29.803+00:00','key.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"kid":"SNO7DsxMHwh0L9tTbQnv7v9EbTdZ72QJ0EM1wapRJwE","use":"oidc","alg":"EdDSA","state":"next","scheduled":true}','o0GNFUJuLHMUu_bzi0m2uA','91a83e5f90afc0ce708f24177a066c6b9ec4950dcd386f0c3e4cab6897d5809b','Ngk-gErl.swz82Yf0nbvRd-RVDJoJ_y2habVd_7MgyjjekCFmnCM',20,'a24bd86279c8d7c2b3f3c815b0a92f6c149b730ef81d0154245df413ba70e4a5');
INSERT INTO "audit_events" VALUES(21,'2026-11-23T02:42:29.894+00:00','key.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"kid":"4bjvMLHK3z9QkX5imK9lka_P3DJbL1b47AiqyOII2sY","use":"saml","alg":"RS256","state":"active","scheduled":true}','X3VZ_suPCoF5PPUOHmquAg','ea00a8242d5960796235194dc107f2f777797afe993b1873c40597c5890fb958','Ngk-gErl.qbvY1zwq8DSe6qe_cN4gYtqdhbt8TFERy1bBxkJn10Q',21,'7fc934cb1d2da531f2b795d22d860ccd239adda1db540103a6bd7f3e94857e9b');
INSERT INTO "audit_events" VALUES(22,'2026-11-23T02:42:29.973+00:00','key.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"kid":"Cyh_704pIsrUTy-FPDJTfheArB5x1Ffu9ujrZ7rVaFI","use":"saml-sp","alg":"RS256","state":"active","scheduled":true}','zbriDwbHmTYBHHxJI7eutw','d275feb488e5d8a2f969ba08c0a200ebcfd1cd7bcc6f3f848fd7846637abd7e8','Ngk-gErl.nZDNwKDvj2yVe3QymHUe7u21W__BS-Hqefl4hdJsYRo',22,'ef68fcbcd2bde44c2acc466e9ad6b06d9db587ac83e165a87dee60f4ebb2161a');
INSERT INTO "audit_events" VALUES(23,'2026-11-23T02:42:30.033+00:00','key.created','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"kid":"Oi5c24gHM9DNDk3sobJHI8k3bFoHuZf6bRyWBji7mjg","use":"saml-sp-encryption","alg":"RSA-OAEP","state":"active","scheduled":true}','GuHkPXpU7LrYYTOb-5iLvA','fd2592ee295e8093efdf0337b052d98bb9b67585974aa4541656713861e056c9','Ngk-gErl.tIP-Z1ezKKorL8FtlxN9VQFtFXaeeC8e6AvxzxTD3eY',23,'061e984c02335dc0c119aa9590c0f52c2593ac78cb3751bcabb3ccb1bd9e4229');
INSERT INTO "audit_events" VALUES(24,'2026-11-23T02:42:33.837+00:00','audit.verified','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"entries":20,"newest":20}','7PyD05jx9NWBKRueWF4rdg','b4f4ad78192210808f1f856cfc65f95971578e6bd90fd37d6db14d6ba2508096','Ngk-gErl.XzHuKRg3IYrVDZi_N4ChC62yEg1GNmrGh6ds0gpeqvY',24,'ed7a8ad2f8a720d14ba25cf4f49dc4192f9c1e9707507c487d60137c1849b1d6');
INSERT INTO "audit_events" VALUES(25,'2026-11-23T02:42:34.359+00:00','server.started','success',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"node":"v20.20.2"}','mAjTXNX910oCFfvWkBdOzA','f1eaf6ff931a74faee121feefc39ebf1e6aca6b73336c95de9b1dfd623d7a1a4','Ngk-gErl.AAeTRGw92DOGnMqPsjVHaVX9_IJ-imfjSUlTh6w39HQ',25,'fb311404a5cbe23745ea2c58873d1f368ee6202e4fdd208b8379dea422c8566a');
CREATE TABLE "client_secrets" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "application_id" TEXT NOT NULL,
    "secret_hash" TEXT,
    "secret_sealed" TEXT,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME, "mac" TEXT NOT NULL DEFAULT '',
    CONSTRAINT "client_secrets_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
INSERT INTO "client_secrets" VALUES('nOKf9y_yRCP8kVjmsISHu3XY','PeNbY_Mf6h5nIPdShjBhXd9b','Ngk-gErl.O0yLgKKqwquvFI9jnPJuGBkl802m_ar8uMqvNVHQmcI',NULL,'2026-11-23T02:42:01.372+00:00',NULL,'Ngk-gErl.xIU3-pT0PSNs9oKGiOAm9zEIZlCpcxeUe5Es8Ctf9h4');
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
CREATE TABLE "connection_domains" (
    "domain" TEXT NOT NULL PRIMARY KEY,
    "connection_id" TEXT NOT NULL,
    "challenge" TEXT NOT NULL,
    "proven_at" DATETIME,
    "checked_at" DATETIME,
    "mac" TEXT NOT NULL DEFAULT '',
    CONSTRAINT "connection_domains_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE TABLE "connection_role_mappings" (
    "connection_id" TEXT NOT NULL,
    "group_name" TEXT NOT NULL,
    "role_id" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',

    PRIMARY KEY ("connection_id", "group_name", "role_id"),
    CONSTRAINT "connection_role_mappings_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "connection_role_mappings_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "roles" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE TABLE "connection_secrets" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "connection_id" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "value_sealed" TEXT NOT NULL,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME,
    CONSTRAINT "connection_secrets_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
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
CREATE TABLE "consents" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "application_id" TEXT NOT NULL,
    "granted" TEXT NOT NULL,
    "granted_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" DATETIME NOT NULL, "mac" TEXT NOT NULL DEFAULT '',
    CONSTRAINT "consents_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "consents_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE TABLE "data_keys" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "purpose" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "key_sealed" TEXT NOT NULL,
    "created_at" DATETIME NOT NULL
);
INSERT INTO "data_keys" VALUES('Ngk-gErl','mac',1,'v1.JvsG8psY.pk262F4kjhLMkz9nnf5Kw_ISPZVRVPO51c7yhhm_hUbaQCIXDYgW8XtQEws9zLlo0vzMi6GjhOy2Cp0E','2026-11-23T02:41:29.909+00:00');
INSERT INTO "data_keys" VALUES('1yiKseoG','audit-checkpoint',1,'v1.JvsG8psY.c1XzoMhicZAhmeyXEhWVUwQqHhE3zrrXSIiNx0zFwO4_fFnEit796TwcFtc85dgg4YOS3i3dQjWC4IuxboK_VgC_5f6XyIPFvA6g-w','2026-11-23T02:41:29.909+00:00');
CREATE TABLE "external_identities" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "connection_id" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "label" TEXT NOT NULL DEFAULT '',
    "mac" TEXT NOT NULL DEFAULT '',
    "linked_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" DATETIME,
    CONSTRAINT "external_identities_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "external_identities_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE TABLE "first_factor_approvals" (
    "user_id" TEXT NOT NULL PRIMARY KEY,
    "requested_at" DATETIME,
    "allowed_until" DATETIME, "reset_by_mail_at" DATETIME,
    CONSTRAINT "first_factor_approvals_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
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
INSERT INTO "job_locks" VALUES('abandoned-sign-outs','','2026-11-23T02:42:58.692+00:00');
INSERT INTO "job_locks" VALUES('saml-metadata','','2026-11-23T03:36:31.892+00:00');
INSERT INTO "job_locks" VALUES('mail','','2026-11-23T02:42:41.937+00:00');
INSERT INTO "job_locks" VALUES('connection-documents','','2026-11-23T02:47:02.198+00:00');
INSERT INTO "job_locks" VALUES('saml-certificates','','2026-11-24T00:18:32.428+00:00');
INSERT INTO "job_locks" VALUES('connection-ends','','2026-11-24T00:18:32.512+00:00');
INSERT INTO "job_locks" VALUES('audit-verify','','2026-11-24T00:18:32.808+00:00');
INSERT INTO "job_locks" VALUES('audit-chain','','2026-11-23T02:42:43.739+00:00');
INSERT INTO "job_locks" VALUES('connection-domains','','2026-11-23T02:47:03.481+00:00');
INSERT INTO "job_locks" VALUES('logout-deliveries','','2026-11-23T02:42:43.356+00:00');
INSERT INTO "job_locks" VALUES('audit-retention','','2026-11-23T03:36:33.568+00:00');
INSERT INTO "job_locks" VALUES('sweep','','2026-11-23T02:43:27.577+00:00');
INSERT INTO "job_locks" VALUES('keys','','2026-11-23T02:43:27.845+00:00');
CREATE TABLE "known_browsers" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "user_agent" TEXT,
    "address" TEXT,
    "trusted_until" DATETIME,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME NOT NULL, "mac" TEXT NOT NULL DEFAULT '',
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
    "mac" TEXT NOT NULL DEFAULT '',
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
, "mac" TEXT NOT NULL DEFAULT '');
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
INSERT INTO "password_credentials" VALUES('EeYJwxbvvhALigE5gjW-8ria','$argon2id$v=19$m=19456,p=1,t=2$+bBWiS3hfL7DAuyp90u76w$o+ej0kZWAHcJqzkR7DBLKe9dfQLhQMUnm44ek/fomHs',0,'Ngk-gErl.th436BKX58ig2uXOiBjKxLWk4fpo7yFGRIO4Xp0cezQ',1,'2026-11-23T02:41:32.580+00:00','');
INSERT INTO "password_credentials" VALUES('tGZL0kOnOo-HJY1E565tST-i','$argon2id$v=19$m=19456,p=1,t=2$/yo1WR1prrmz2AH5R07DpA$gagm+ea9exfvHIzPElS+FTZsCgj8Temhx19SVMoP5pQ',0,'Ngk-gErl.RON1WU7fjBnwhpZU606wO6nZ2UOH676sYBpNw36EcWI',1,'2026-11-23T02:41:48.684+00:00','');
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
CREATE TABLE "permissions" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "resource" TEXT NOT NULL,
    "action" TEXT NOT NULL
);
INSERT INTO "permissions" VALUES('2Ps3-wOgcwEgSaQnvyRfnyLI','gatehouse.users','read');
INSERT INTO "permissions" VALUES('2pmy_JKRln84-wxhIQJgglYU','gatehouse.sessions','read');
INSERT INTO "permissions" VALUES('OmNvjrs7Lgn9KBPQSn1HfPiB','gatehouse.applications','read');
INSERT INTO "permissions" VALUES('BzNobd-PC-C7ZUGQMK9TCKti','gatehouse.connections','read');
INSERT INTO "permissions" VALUES('FvZ-S2x8JEmBTIxp19AxGyA4','gatehouse.roles','read');
INSERT INTO "permissions" VALUES('lRorIqZGVdrI12-oFe9vuyvU','gatehouse.keys','read');
INSERT INTO "permissions" VALUES('B27dm3K7j4xFGWR7WJI89Nmb','gatehouse.audit','read');
INSERT INTO "permissions" VALUES('UOJyGA0FYgGNwyS57z_s2PLE','gatehouse.settings','read');
INSERT INTO "permissions" VALUES('64jpJ4iaP6XXJraaH8y36OAg','gatehouse.mail','read');
INSERT INTO "permissions" VALUES('XvWR_C_SLEjLRRUjlREQRq2U','gatehouse.users','write');
INSERT INTO "permissions" VALUES('Qv8Z4ocA7iGLNm_Mn459pW9a','gatehouse.sessions','write');
INSERT INTO "permissions" VALUES('WtUIa2b3UjfIsxM7tV_fn_Cz','gatehouse.applications','write');
INSERT INTO "permissions" VALUES('fiBrGNNP62lZGagYW-lgPprQ','gatehouse.connections','write');
INSERT INTO "permissions" VALUES('t3ezrMjOpl2pHTryjePzyeVY','gatehouse.roles','write');
INSERT INTO "permissions" VALUES('zMhKHbOccefXJmId0w9nLxSc','gatehouse.keys','write');
INSERT INTO "permissions" VALUES('wg5Vpl1mgB5Cx7T95IjcYAzM','gatehouse.audit','write');
INSERT INTO "permissions" VALUES('0HsaF8Zdt1S73qMKxSrmlzbj','gatehouse.settings','write');
INSERT INTO "permissions" VALUES('TS9U2ONB5VPXUoOzaQ-TwWXy','gatehouse.mail','write');
INSERT INTO "permissions" VALUES('gmXla3Kw_O_0hSJjH63ZvdBQ','gatehouse.users','unlock');
INSERT INTO "permissions" VALUES('KCAbV8nDgYRQucZy0trdKddW','gatehouse.users','reset-factors');
INSERT INTO "permissions" VALUES('_AFxVRcTgtAtssNabAHCqT2t','gatehouse.users','reset-password');
INSERT INTO "permissions" VALUES('tI3bqzWkcbjIkYWGrM5HF62f','gatehouse.sessions','end');
INSERT INTO "permissions" VALUES('EvTi7EcSOYUkPZw5W-empYQM','gatehouse.roles','manage');
INSERT INTO "permissions" VALUES('Kp0Um-DtDy1FuY1wMEE-AZYa','gatehouse.settings','write-security');
CREATE TABLE "phone_factors" (
    "user_id" TEXT NOT NULL PRIMARY KEY,
    "number" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',
    "confirmed_at" DATETIME NOT NULL,
    CONSTRAINT "phone_factors_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE TABLE "rate_limits" (
    "key" TEXT NOT NULL PRIMARY KEY,
    "points" INTEGER NOT NULL,
    "expires_at" BIGINT
, "in_flight" INTEGER NOT NULL DEFAULT 0, "in_flight_until" BIGINT NOT NULL DEFAULT 0);
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
    "scope_permissions" TEXT NOT NULL DEFAULT '{}',
    "signing_alg" TEXT NOT NULL DEFAULT 'RS256',
    "source" TEXT NOT NULL DEFAULT 'local',
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
, "mac" TEXT NOT NULL DEFAULT '');
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
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','2Ps3-wOgcwEgSaQnvyRfnyLI');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','2pmy_JKRln84-wxhIQJgglYU');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','OmNvjrs7Lgn9KBPQSn1HfPiB');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','BzNobd-PC-C7ZUGQMK9TCKti');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','FvZ-S2x8JEmBTIxp19AxGyA4');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','lRorIqZGVdrI12-oFe9vuyvU');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','B27dm3K7j4xFGWR7WJI89Nmb');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','UOJyGA0FYgGNwyS57z_s2PLE');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','64jpJ4iaP6XXJraaH8y36OAg');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','XvWR_C_SLEjLRRUjlREQRq2U');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','Qv8Z4ocA7iGLNm_Mn459pW9a');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','WtUIa2b3UjfIsxM7tV_fn_Cz');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','fiBrGNNP62lZGagYW-lgPprQ');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','t3ezrMjOpl2pHTryjePzyeVY');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','zMhKHbOccefXJmId0w9nLxSc');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','wg5Vpl1mgB5Cx7T95IjcYAzM');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','0HsaF8Zdt1S73qMKxSrmlzbj');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','TS9U2ONB5VPXUoOzaQ-TwWXy');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','gmXla3Kw_O_0hSJjH63ZvdBQ');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','KCAbV8nDgYRQucZy0trdKddW');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','_AFxVRcTgtAtssNabAHCqT2t');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','tI3bqzWkcbjIkYWGrM5HF62f');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','EvTi7EcSOYUkPZw5W-empYQM');
INSERT INTO "role_permissions" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','Kp0Um-DtDy1FuY1wMEE-AZYa');
INSERT INTO "role_permissions" VALUES('JOW9ikUlDgpa571IZQoT4pDK','XvWR_C_SLEjLRRUjlREQRq2U');
INSERT INTO "role_permissions" VALUES('JOW9ikUlDgpa571IZQoT4pDK','FvZ-S2x8JEmBTIxp19AxGyA4');
INSERT INTO "role_permissions" VALUES('JOW9ikUlDgpa571IZQoT4pDK','2Ps3-wOgcwEgSaQnvyRfnyLI');
INSERT INTO "role_permissions" VALUES('JOW9ikUlDgpa571IZQoT4pDK','gmXla3Kw_O_0hSJjH63ZvdBQ');
INSERT INTO "role_permissions" VALUES('JOW9ikUlDgpa571IZQoT4pDK','KCAbV8nDgYRQucZy0trdKddW');
INSERT INTO "role_permissions" VALUES('JOW9ikUlDgpa571IZQoT4pDK','_AFxVRcTgtAtssNabAHCqT2t');
INSERT INTO "role_permissions" VALUES('JOW9ikUlDgpa571IZQoT4pDK','2pmy_JKRln84-wxhIQJgglYU');
INSERT INTO "role_permissions" VALUES('JOW9ikUlDgpa571IZQoT4pDK','tI3bqzWkcbjIkYWGrM5HF62f');
INSERT INTO "role_permissions" VALUES('EGtfS972eH_4zL6WSk6CLYBj','OmNvjrs7Lgn9KBPQSn1HfPiB');
INSERT INTO "role_permissions" VALUES('EGtfS972eH_4zL6WSk6CLYBj','WtUIa2b3UjfIsxM7tV_fn_Cz');
INSERT INTO "role_permissions" VALUES('EGtfS972eH_4zL6WSk6CLYBj','FvZ-S2x8JEmBTIxp19AxGyA4');
INSERT INTO "role_permissions" VALUES('3q2GjgguR4vV2aNk0hgh0buz','2Ps3-wOgcwEgSaQnvyRfnyLI');
INSERT INTO "role_permissions" VALUES('3q2GjgguR4vV2aNk0hgh0buz','2pmy_JKRln84-wxhIQJgglYU');
INSERT INTO "role_permissions" VALUES('3q2GjgguR4vV2aNk0hgh0buz','OmNvjrs7Lgn9KBPQSn1HfPiB');
INSERT INTO "role_permissions" VALUES('3q2GjgguR4vV2aNk0hgh0buz','BzNobd-PC-C7ZUGQMK9TCKti');
INSERT INTO "role_permissions" VALUES('3q2GjgguR4vV2aNk0hgh0buz','FvZ-S2x8JEmBTIxp19AxGyA4');
INSERT INTO "role_permissions" VALUES('3q2GjgguR4vV2aNk0hgh0buz','lRorIqZGVdrI12-oFe9vuyvU');
INSERT INTO "role_permissions" VALUES('3q2GjgguR4vV2aNk0hgh0buz','B27dm3K7j4xFGWR7WJI89Nmb');
INSERT INTO "role_permissions" VALUES('3q2GjgguR4vV2aNk0hgh0buz','UOJyGA0FYgGNwyS57z_s2PLE');
INSERT INTO "role_permissions" VALUES('3q2GjgguR4vV2aNk0hgh0buz','64jpJ4iaP6XXJraaH8y36OAg');
INSERT INTO "role_permissions" VALUES('96OGJd360U2M8VjxUIHQ5Y5f','2Ps3-wOgcwEgSaQnvyRfnyLI');
INSERT INTO "role_permissions" VALUES('96OGJd360U2M8VjxUIHQ5Y5f','gmXla3Kw_O_0hSJjH63ZvdBQ');
INSERT INTO "role_permissions" VALUES('96OGJd360U2M8VjxUIHQ5Y5f','KCAbV8nDgYRQucZy0trdKddW');
INSERT INTO "role_permissions" VALUES('96OGJd360U2M8VjxUIHQ5Y5f','_AFxVRcTgtAtssNabAHCqT2t');
INSERT INTO "role_permissions" VALUES('96OGJd360U2M8VjxUIHQ5Y5f','2pmy_JKRln84-wxhIQJgglYU');
INSERT INTO "role_permissions" VALUES('96OGJd360U2M8VjxUIHQ5Y5f','tI3bqzWkcbjIkYWGrM5HF62f');
INSERT INTO "role_permissions" VALUES('96OGJd360U2M8VjxUIHQ5Y5f','B27dm3K7j4xFGWR7WJI89Nmb');
CREATE TABLE "roles" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "source" TEXT NOT NULL DEFAULT 'local',
    "mac" TEXT NOT NULL DEFAULT '',
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);
INSERT INTO "roles" VALUES('Zf58i6cu4xEYUE7oWp5WwjNw','admin','May do everything in Gatehouse','built-in','Ngk-gErl.R-JwVYnSgeWxeKSbewpVMM2NsivYstquEvvn8dBgAbU','2026-11-23T02:41:30.485+00:00');
INSERT INTO "roles" VALUES('JOW9ikUlDgpa571IZQoT4pDK','user-manager','May create, change and delete users who have no more rights and no other roles','built-in','Ngk-gErl.h8UCe5RdAJmfb5F71mpBtRVXXfZWKeuemD9glwEGJlk','2026-11-23T02:41:31.442+00:00');
INSERT INTO "roles" VALUES('EGtfS972eH_4zL6WSk6CLYBj','application-manager','May register, change and delete applications','built-in','Ngk-gErl.3o70fjkCRKF4_rCx8IplEflbrCvB11B8pWXvWxXIGv4','2026-11-23T02:41:31.550+00:00');
INSERT INTO "roles" VALUES('3q2GjgguR4vV2aNk0hgh0buz','auditor','May look at everything in Gatehouse and change nothing','built-in','Ngk-gErl.pRXVhKWNsnuvs-GKi2Q-ht87aYGE5eIxAMKFI2H2JiE','2026-11-23T02:41:31.597+00:00');
INSERT INTO "roles" VALUES('96OGJd360U2M8VjxUIHQ5Y5f','support','May help people who cannot get in: unlock, reset factors and passwords, end sessions','built-in','Ngk-gErl.-BWFn418eRL9DQOC0BEBAQs5ERgSL7bFkKTV9G6NRGQ','2026-11-23T02:41:31.724+00:00');
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
, "mac" TEXT NOT NULL DEFAULT '');
CREATE TABLE "saml_metadata" (
    "application_id" TEXT NOT NULL PRIMARY KEY,
    "url" TEXT NOT NULL,
    "next_read_at" DATETIME NOT NULL,
    "pending_xml" TEXT,
    "pending_key" TEXT,
    "pending_since" DATETIME,
    "rejected_key" TEXT,
    CONSTRAINT "saml_metadata_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE TABLE "saml_name_ids" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "application_id" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
, "mac" TEXT NOT NULL DEFAULT '');
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
, "mac" TEXT NOT NULL DEFAULT '');
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
, "mac" TEXT NOT NULL DEFAULT '');
INSERT INTO "settings" VALUES('secret.pairwise','"v1.JvsG8psY.Ep5A0wbuSiBsLExCnFVdL1J0bWhostkhO_ZmgHvTziStVxFKIPXfF74vwne5_ACPlsCRebSz_lo7ott4sUCsbCpuREqjMzI"','secret','2026-11-23T02:42:30.659+00:00','');
CREATE TABLE "sign_in_attempts" (
    "uid" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT,
    "factors" TEXT NOT NULL DEFAULT '[]',
    "data" TEXT NOT NULL DEFAULT '{}',
    "tries" INTEGER NOT NULL DEFAULT 0,
    "expires_at" DATETIME NOT NULL
, "mac" TEXT NOT NULL DEFAULT '');
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
INSERT INTO "signing_keys" VALUES('5JqIclYVrqN6BxZL8yfmqaiFezB93Vrh1ADXlk1N17g','oidc','RS256','{"kty":"RSA","n":"mjhU0Br1b0EMeCeNjHmUE--_EmpdtH0tekKRQs0bJOQzI_aT5VUlSnc9Fj6sN8d1O5bQeko0B_qFRBvvN6QJpMbrETqncDJg64Kh63PBUqFy93vdWM4swwJlomjmE2vbEpx6icvjC-bQopGRV-TPhQycVMFYpnhpNtmpZvmF9hQ-_2WY_kWhgpBwMkmCjvRTXBNI-W_dIVlvxWsXF_x9m8_WzWskyAJmFOeu8wUQpOkbPfI_FJcUmitmU2aeqiIZoDYHlAOPon_5tx9SqZxmAJy32X5xQ9M5OPErXl6nS30HdV2RSEKbNWnJ-pnSNV0w8TJvPBfZYAIgCageQ4frQw","e":"AQAB","kid":"5JqIclYVrqN6BxZL8yfmqaiFezB93Vrh1ADXlk1N17g","alg":"RS256","use":"sig"}','v1.JvsG8psY.Wz8swLRePw28pAEYRFR8Hy0lPg7YCpuiLO9McAU_6hPVe-nZGlGoYBoOy6h4Md5G5q9MoRoQ4Co4pYotXi3IN5f_4RY4HrgasFGR2JD005RtZ9g7sXpqJ6DgKVspPktTMvMgJinsbeJwNJQf-lLNN5h0hRe67xoo2faHMYrDC6fGtrddK0njx3gtN5qJV7jYlFrqTmLcozkrr0et8HLa1_J6PQvufJtDXm6kCp5jc3Fqcil6tCMMCjv8RbKkZAmSr3ZIzwWCLqhXGhy9j6L6a-m6tF5-kd2r0BZrvOmQyijSnS4zM4lQ7FPB3z_IeR-8Awqd6LvL7NsbFV609v715_FshA61k3jZlVXNDs3i_8PhYjLluXOmC4NQlUoXJ0G-Y_jU2W25wr142F51oY9bM1vEDssshMeKkbgTcvuOdVeHF9TY55X75Df5AThy4KWRSq_v4TZpD2ay6BkaXbyFNj50rnfOG1bmCBfRZxLUiB7PlZpTiSw5Rz_ykrz-GAdM-C0Kq1WO8lSAFT60Yvkop2PZwLhJeE8r8i6b6NSkFk9YpAOz_g9DLqQ757MoVg1c3IcFWa7x_QWPB6K0b8C2ODuwcIGgQQ-1CbIwHa4QHBsU-ys1maWyykE8Asx1ixlnKIUQUp0kvQrwM53ItfmUDeZ9Yw2BpixXCsRpkt5wuFxo20501KOO0K4kmIQrYV8UISYSp4biwH-IpUIM_0HzpFlJmeCVa8oQUU4pB5yWI8RW3ietj9KPiHcPheNUMpxzY9TiDTe5wQAb7ZGeD5f0ZAHQtW9QAIah1YTl5q-QGCr64tKhxNJrLZrDVMq6ys1UPbul_lxZWaajyEMvXt2hYu0zJgHt3Z6qXF3w6xvmbyoXyZ8GwJ-ZnDLzbhLO3Xu3pJ6nF9joDyu2RXXHgGSuP1XMH2fj32nxXu8VzpRuQzoOAs6Vv3NnWkaPIp94z_NEXUtUDM0LRNXyEF7IlXei63nF2EmoFEQDDibKvwQvzsqDMSPWd7e3VoWRtn5rYQAuvXBBoWIUZQKGcIh4GPXLnGw7Y6sek_bEi5oLvMYdOFw0rMC7ckNIv7inxXitVrxN_-79KcqWN4Fo_9CztaIxc6aC-WCCn-LNx-VMwPeHN_b_MVnneSD4x0IYB2UTKhEzpzT4FCx82jNdynPq9_1F8fzHoZCITrUVyhw6C91sujQKaPvIlX-0wnNC4Eg2Oao56jhjKywz7InocVtX1b1r3bQFAfflCQmsudcvQOEU_lNCF2PeVCpi0zIlcbktpQTSA0E7FU3kb-_p5jHv_SgbhLl5h5dL4WDPD8ajLXBgSirhsbLQ-iJQ1lukiKIkWXgTZA15uarB_tc3zathFC4MumYuz-JcNuRZm1P17wy8tfRSmbkfXuBolbd4v10KSO7XV0yuO46gU6E3mk0HxDDmd8p105DTf-EzYHtZXT-qerA0MF2Khs1BGrgDyucsiI2HgOULKq_x55u-6N-EhB-abVVsDCke5b5JFAzx5kK5NBBI6Q4AQ51YkoX-OUk6T8c9u1WAu9Bf2bFzuEVXUIaIm7S7kKctLmIpE9cScKReiKlrHGfeIqte-1P1mtQw1ciMddEmH4INhM5WOReQAoOJiXHN6_xS7kCrbm2p_y7eiV5l2zN5A3WNDoq6ovZb',NULL,'active','2026-11-23T02:42:28.240+00:00','2026-11-23T02:42:28.240+00:00',NULL,NULL);
INSERT INTO "signing_keys" VALUES('Db7o4mZGcAwVchDWEMh-dvJ8qDDFSVyjfrTrSspMJcQ','oidc','RS256','{"kty":"RSA","n":"ygZHKrDioyTJIfJ_RqMm63ReIRpg45k-cigzlyzZlq1dCqQQT2_oqieXdy5r3BToflIQmhtME9Xv7AiAlyHTrxgp0bz_STP08w1dXVJDczS1v_e0FzA8Xu73t0DGZT8p7a1G2X9oAkbqzJi-dqVJ1QBnJrnLm6Ll_rsrPPidpnnv5nuJXHE1h-oTlnxQ1zlH9GtLRsX7RK2SCh10wdivS0vF6e0eWe9b-cKlMD76p7IqEqrpBcGqSBF8oHNPO8U6GNLIRFlwGsO6Qbn0d2_4G6Bw514XOpmLeqcWb1FBtjObOOFPdjsd5yaY9IJtjNFkifAs4sa-d0OJOx0-0njc6Q","e":"AQAB","kid":"Db7o4mZGcAwVchDWEMh-dvJ8qDDFSVyjfrTrSspMJcQ","alg":"RS256","use":"sig"}','v1.JvsG8psY.snWHcK0R98IUU6u4s5oOeKxTkU6as8wT5duOgZoUeh4FIbJVuLuspryLe1q70oahTL9UtNCexsl6Y7WEztUWmz-zwl6lEz9H5bQZYq8UrHGmxiIBbzZe9btD7_CLxV70TLczOizChdTYe44vB63bNdYw76IjlnNusDutuAUEI49u4WhsCr2qu529FbpMTGXlRXaggv28eNnkjwD9-qgWxZT0ANRntfNLCjEIS6pfFuGTf78yzyHJFOzHujC46ih89xpkEl786bnp3JGrizbY4-6i_U5dIZbOON9-4GmTgaU4sQ11yeuDLn5KBHwmHUeodenpesa5ubjYX0CjZg3vQ_rDzjCjV71IKhOE3Py12aJc3X_1m9KVKms2RvJoXKRvhY_ojTWrf-BkFuH-_CH-uhuI_-cV0SXBJGhR9VmY4BsWsnGl5Xw0HmCuCypBvHj6MD1X7CGSEOzjbW1sQYtuZJNLXbsCJzQiV-Jjcf0TA4MrELnDSe2tkjEtZH0lSDxJMyon63fq-pD1TfNgrm36_ps76QdBrwgZOeOZg4YpcS5GY2Lfd6eMPu8PPKM4YwBjj5yY8swYvzuQBWVLyjFJWwcqkGtoRQciodpAgeYOz2vrhGPWNYlzKQLuFFtLNj_REZRvq6rT-oCYbFhDy1BISP2DZXhLAy_aRx7FuItyd_82_jdJL70CjifL8FWD6sRWRcnknju4ijfwJcesRCBThoQiMaitJmd-UVlWQxuwOtZ-Vc1mpEmopVwztvSzaqE4rU_0YkW5_Y4reGKJthYy_7fClqg1DUx6-TYMAz6zLxZ4qbhVmYf0CC7RXuv-ZTQhNw6RGQUC9ArJ9_WX_4KZRbYcYdmrDRXJ1-d73HJBTbCj2Px1P9L2JM_xK2NuZiuUWS5PmC8aIYEEfG93nlDH7k3Yv5qZs6M-fJmjYZhiZXr7Cq0Hy9tTnLAl1BOrS7bjt0smKfr3qzGcIfVV0iU0NiZyLUWO_-rr1hjNp_pRPG-lTxBm902CIKQk0Q5HQKjTSQG4ApYHnK_u5fYychFZUUJMKSyOVLvfP9u3JvFDIlxc_SvwCCWbV1gMpH5_aq8iSSDyiVJb5ootm_mRZ1YCZbInrTRJ29-cSeYtDCfwGFj91AwyLEa9bpDwyAdMZQU6a41EH2pe1Ts-XF6ZdzlkMwV0mLkGl5GGD174W7DQJk8rBnEZzG5SmujgmDebZod8dSbst5b_1pETvn4Mrd2GsauyTLofd8iTgQSaZI3vLEp0qfG8nuCVod1nPval0HeFbLAQf1LSdbHtY4q2eBEucrrwwKQgLbK_NKZZD3eA7EOFZeAa1MLPmMz-6Dy2mJzj7l-obca-vD0ZxawtLWiCc0dgtULqeo6vMqNBistHlnTmGjBhJL81x15_KqHPEcirzqt7GHPDc8TKYuSiWIhGKKp3oSvux5BpibCRqOp0sG4329OAfaiBSE8Y_kzE2CfVx1KC7r71tpCCW6t8dD9sleFXtJHmF67RqiMJvtMTRDmGrX8Uya6QAgVeOYdngMPNItsA3fGwxLX4TEUcWDN4JUYrsPZhVVjm_wlBVSJHDsLvf0MbKZvYddp5fj-pPuYsWgmwSYTeeP3un4RZ7I-C0UoWT_MviSmcUx3tNmxaYCP2D2TX-Bl0ZApoZRpS',NULL,'next','2026-11-23T02:42:25.954+00:00',NULL,NULL,NULL);
INSERT INTO "signing_keys" VALUES('mOsbhKdJd3CniF2ljZi0V0fsSk8H3H2P0QGjazG6LTg','oidc','PS256','{"kty":"RSA","n":"27v17CO510zweQYQkRe5xmOFbzPZaHdGVztRmBW1HV3d2Cf2vnYW-VBXZyORRcOR33dhtLw1ipFAGO1AToQUBe5Thn3hpsNzxO3yk8Hcyh9o3yCgZ1FsdvFXplziCTnK-sGEv9NoFCTrTY_1yHgjTQJwOW4nmcQgNI2ok2KUE7fC5_OZQV4bv7617UGzyx71yK64ZLUNmAAf98CcvKqLfndA_DcPCYoBpMxhqWAUTpspxMa7PeS0Zytlktws1xRNQMT2IMBsxU3aWlxHxUECP0r1n-eDdwCW735Lfnnu0STDQV_OVRRCjDyltmfSUmKaxyH61HfaG1f9CEBvFFFQ9w","e":"AQAB","kid":"mOsbhKdJd3CniF2ljZi0V0fsSk8H3H2P0QGjazG6LTg","alg":"PS256","use":"sig"}','v1.JvsG8psY.EY2eWqoCJob0l9Lisem1AVh1OkZO9a3XgogGTbEl_cGif15syCmNXM2QKWKp1SZmLw3jBEoZZo_e4nCl0Bk2lfoinQ9FoY-whjHhaxsngcxcSja1jBAp-pkb1uNMlzJoCHjyDDa-YjbbQU2ABZJfD8dYs4TQyI4xPQqLpfAWt-Q-V1xk_3iJEHdKEsCrQjbU3fGb_SIaJS3OLOR0-gF4Tvj_B33yqNzo-ThxxE62j8V1K9NWFzWxzcvF5VENktkXVu2VQfyv9Nbbe_TDkMTDR9cV2KUamh6Y7EdThEYw17m2JYDXpQjLvPUIoMe89PPLfatoU_5xGdxvxaSPIA6WTj1RC0LmO92zrNQcBGIYOq6rSvotFy9OywcQ8cbtatHsjboWbDD5-NmqOStFfhrDgba7lX8u6wP0jS0xsp4c1qcjp9wqjtFclX5X7TrtiV9wkARjhLWzp6p35HDSZdtMll8Gw-7RObLMqiUhmO9yoDqSWNUDl12s9gsUiXc6i76iuhpyOAOjTMwEzANqdU4p3BzPlZ30gReKm4ZngbgisdSpA3XGCx27DaXurJORV8zwbmquuf4axYzmqO_OeRpRkQlhIIlPE32AZ9v5dS2GrkZqQn_okUHmfmDvNtWXfd3MuLPREK4zCVwj4HitfBpWA3Gd8K-vKd1mq8EiRutg52UqN2r_eiHmEzwEVTS6utd9cfa9KCrDvs3nTS6mjBYRlFki5mG-dHRSybkjzeGVwaZXpkf5syouIA_ZxaWVVbK7Ko3OYxQstmckNMdkZuBK5Aa8qbawPQb4d52l46EzpYM6TM4_F2KKEWDvKMXZY6cIyPrUggDqz3WNNzYlX6f41hKOSHCR3TJz_6U0ysUSHQBpbdR2KV7Qs0pe0y3uTn5Dr86tg7En5C8-CT-GRdJPlGFd453o4mW3UsT5hkH-1rn59oDxfX-KbpxxdyfsPzEWh64XNeQ3GhCnfXRwLsVEfiGaHeQuSzlLxjxo8qlsOgUptWjRn0ct3CCZan1SbBfw-po8Ohoa90OddDCqQCUELoheMaK4IMRBSz1-J3JAQZ9ghvCfkYlhnMcGRclgdrfEjhVC1tDoPgU2T-DGlbepELJx8xSABaRivDrZsW3JvqsXC9gO5EwgYvSdORiGy1Ip7iLmNY-8WtbKfob7cCnGwxyTrEedVSjnC9Cl_G8yy7urviqrwV8xbmO84CJMhBcWvrXtTek9cBe4lL4YfDogDkxiAeB1TUv1r5wvjwM_ROteOyIGa_btGeDBfcMxnA4iA_MlMrB2xdR0Vm2rRSAuhc9_16WCfUBVDCQc8Qxu9IoncAclp_UK6y61L_8nx9r8m3pKPPDdqEhRbIKil-KG1ur_gatQpJtr7DUZybqYFOdlmd0W3q1MZMfsFbO7qBoaY78yKyuU6Gqgi9TYVLru7Jt_rna3HRZ0l4FoJQeBtN_y_xj_cocfodNDTCDLsBjEZ4lYBKNEsVtSJ2qJ6SMV5z81t3I3uzyIBrSYFsGi5ZCCIvHPoSMhf4PS294vQwiC6rX8mTeGfZ2aCjqknmCyk24tNQ9xzWX29mBljlJv_SRo6WfEyVF1z4kB16hbqScqdF4Af8xLYNdCfQSFi3SpzAVNsQW6Jm0vPJb3GhxgQBwjM-Q4NDX8g3Z8gg59',NULL,'active','2026-11-23T02:42:25.895+00:00','2026-11-23T02:42:25.895+00:00',NULL,NULL);
INSERT INTO "signing_keys" VALUES('PZTcOqDagHj9qZtc5lIEfzzkwtEs20Ol3jdRssldDik','oidc','PS256','{"kty":"RSA","n":"0R1EqesnBnCAIpjpPOVRSnK-i4D_BbEKHUCbTfm6YldSbZOSHmbUqFuWe_mVXBtVqRBWwnxGUQhSLq9U_U17ohVa3u9BaVL0nQnCalp4M-78nFPa8G-HUtA0OnyfyQAl8l8axzDfCIcaHLd5jHAvhX7bnKfrDKV3Th7v5dlFimyHQNZcMeCFzs-gJNkBntDhak50nq6gif-mjcWG234xgFpcZm_dJdKj5j4wWoelhKBnEouMw4XeCjV_FKDT268nIafI0qc1tjfvdSmwyE-OPWGJgBw7Z777e_S5UpajeM6jsVtb4qiKIplY3GsUdEo__ml-uL9dRivUgXEdZpyb6w","e":"AQAB","kid":"PZTcOqDagHj9qZtc5lIEfzzkwtEs20Ol3jdRssldDik","alg":"PS256","use":"sig"}','v1.JvsG8psY.0TXyTk5zqC34vuDyqui_A5L1fj8OEgNJTSivtRGxy_fByXOHqtDIY0v44SBz0V0txw5Hjo332p05JS5SbZfdNlFclDzFOhvp2fsl3kSRmQgPslE24E_8LEZ5sYFK7_VbMNpDYXtkgN5QTWOW6gBq6EICEo6_HSU_z8N-4plJPbMMPeEATUEUOFX3J-790DNxv2feSiN9bmdP97KwugqkdnD2J397ozu72dG4vbgFSGUNEBwWnlEZoRXW-HwczTLeJJr5Ftl76zgeYItvx7HCoFDeQvzEW_Mn8ILf_zSdqo9iXOSuGrFcE4VY-nmfBspSL_v5mkv62Ri0N4Wy8GYzdfzx9wFRATadlU90JlfEd3sUsFtOYMo647dy8HvylLgWq2-gD_ol8DpFjXCTOeQBesOcfmh0QVXfhW0Dp6wnIkTSsnoZb6C7tTjCfwvdtQU62n0cVmXC6CT-vydKG4nx8g2OeUejgSHjEoRMRFwVkSKRsP_wEgz12TpDrBRrW4fd3frjYkF20_CV2cu8f8m325kJtOTZy-1609jlcebNMkE99EnAe-p7pCN4G5uI_KxEsWx_PUyds8Q_UDXS-6UEmgoejm7KAdiaNqhNXeqCgerevNPfISi214hBxIkTqzOxM_FVtLyxm5EN_ZCXKXA4DwjnWQaH8AEH2LSWhz1G9-cO_UgaEk-81XyR4vfqpQc4VSGCDJ8KJ8f4yapxKQszxJ3RjRrSb5MiqywYMEgotGHmoE99ah9IKQNTWOHv8NWiT8B72FfHYKZeoOOD2PKuVcGfFv5ebekDfLWvqSxUjIkwItOktPBUVQEXLRGlpUkGp1aP3Go-37moCx3MLYTtsYJpfTbfoyPVComasMl_gQ2cQjrC-t5b-CoModgw_nW5ZriGrEBmkFtEaYFCmDrPSgDhmAXEhNYiBuyj8pvld-tVaq0ojLQ6xTS9b8LKJ1kaAP7WG66SSXhw2SQ6lwvhfbW8JQOIEuuvEusCMbudikov0W62_S0NUJ4OD8YTeBmIQQmgx2h-Iua-pmZJk1-twREZnfcJxz5OrrLPW4gAN0eZBP8ZX9U5ymmnrIlM1RSu0ClFjAxNHynTFDDDeucofGQKuWfFlAvDsR6fWhGUcMiwd6adiyeAfQdcyQyHa6fF0Sb-PhgmQsFm0VImuNxpESM_kExSYVr5V-f8aor5dHurjcy7zTr3QpS5Ria3hshV_QzyuIimYLT8I4nIq29fHxOaupJ0mnsqdhzVVgnoSgpnfXbi161EBPU_KfwHxu2yijwkYPz2gBwwCTz2gX9IXRNrBSNYeWJ29uGLx6Rw1lAcAgyXJmSCdoaZ0cqzddUfCDU3-tqnTayDhAV-ivk3LVybL3CN8ogzHiYKkw5pcthwr8ubAucASRDj-AWn0a4KLdYUaLIte3WCHh9-1r_WJ0WfBawdK8htEbEWX-Kf4w6LQs9xyYz-Vl9qBJ3wC0Kmf_Ot9Ax7SNmQ5n5i2_b8-SYFZE2xtiN_e2iipJw_8BbLHX7OQi49IsFCQhawn34K0Hg_5q1L8yrAbvwLn1qQBzZX-l_EX0GR8NHPlCUTygQxUL68MuGaxdiHKL7zKjDYuxVLM8tKA4n716Fj9YUiuJ0hQiQR2yqDpA5cBB_KIg37ljEhH9ApUs0sfbsn',NULL,'next','2026-11-23T02:42:24.915+00:00',NULL,NULL,NULL);
INSERT INTO "signing_keys" VALUES('ZOSDhRdQcunNR4CH_pEoRrod-0_GoSKD9hQcHe1LqDQ','oidc','ES256','{"kty":"EC","x":"cO7NM1zKDdXrzoGiegnW86gfmtLV3punzVjhedHeLKk","y":"Z4sMwZs6xlM3KPDO1rVhGYZKHYoIjuBeKpFo2LgmZfc","crv":"P-256","kid":"ZOSDhRdQcunNR4CH_pEoRrod-0_GoSKD9hQcHe1LqDQ","alg":"ES256","use":"sig"}','v1.JvsG8psY.V3GFepiRSt8qIMM5tuFQZ8aZllECnplOJ6zqYVBimsZi9iY64YhDgBqimj9LbjJ9cHmF-KKciCQ_pkHQR0Ey0Anbh3Jaeuqhzjkbyt6bPQ-vdWIJuWsj623Spodj5enYIOswMB9ewy67pL6895sZd8BvYnVUgdVAdbtuBWFN-RwM0vGi1e63SKiUMIgS7DHBO_PKlhoXgjjy3BLx_GQUjD6_RuaXXQ',NULL,'active','2026-11-23T02:42:24.946+00:00','2026-11-23T02:42:24.946+00:00',NULL,NULL);
INSERT INTO "signing_keys" VALUES('361aMT3QQgtQ0JhNas5xJ6y2A_JU1wGfeKerYpDpbj8','oidc','ES256','{"kty":"EC","x":"xLQdPz9BF2bAgYmT1bD1g0vHX-KYs8vAeSGHyk2VuIQ","y":"Yp71ruvO9AFE8m5VGFrS7d0UIzRiyKQt9mLiAwBfDc8","crv":"P-256","kid":"361aMT3QQgtQ0JhNas5xJ6y2A_JU1wGfeKerYpDpbj8","alg":"ES256","use":"sig"}','v1.JvsG8psY.k89eaBB_4K3Q3GD-sLhJyJqS-02b6WBKAaEKisbJpRVFp0j-I7zw2FPyw7B_Qd6CvRKt_y6ikJ9eYc3LF7rCD4Ze-6VZi_aqSvT8A4UhnPlRDkrAtzRP77gQ76R232v_sJPcAzgCi_iYnlA6RkrRbST2BnXl_cHa9WB7QYrn4vu0Y6LUhnseAYoE79NOix_RLMeM2lYpfOFsA7OkDtt_lVc46Ue30A',NULL,'next','2026-11-23T02:42:24.947+00:00',NULL,NULL,NULL);
INSERT INTO "signing_keys" VALUES('QDvqMULKk8Rb9bN8KwSPqwtk2Laiu1GmSN9uFDy0E4c','oidc','EdDSA','{"crv":"Ed25519","x":"Gf3lojTAq0idxFI5CGoQEoagJXoKbNGbTQmxRo-B0Tk","kty":"OKP","kid":"QDvqMULKk8Rb9bN8KwSPqwtk2Laiu1GmSN9uFDy0E4c","alg":"EdDSA","use":"sig"}','v1.JvsG8psY.fqATIei_wSz_7BZwrMk5zgQh-Czm9xkebNmsdHpk_dOlgAo2BjWvTcZV3NAdIRHg7iqplJkLgcoOlizpAVKZXDutW_2VZrAa_Q0vfA',NULL,'active','2026-11-23T02:42:24.947+00:00','2026-11-23T02:42:24.947+00:00',NULL,NULL);
INSERT INTO "signing_keys" VALUES('SNO7DsxMHwh0L9tTbQnv7v9EbTdZ72QJ0EM1wapRJwE','oidc','EdDSA','{"crv":"Ed25519","x":"mDZyl2b1vRiXiGWlowMANc-JqbJ_Aiylc2LpUCqUoXM","kty":"OKP","kid":"SNO7DsxMHwh0L9tTbQnv7v9EbTdZ72QJ0EM1wapRJwE","alg":"EdDSA","use":"sig"}','v1.JvsG8psY.a4AyGABKe71EZHHoMLOCZQVTBbh-2HUAGqjNX55r8B3Vw1aLY_JNVpw1Q3Nhqgl1myD9Kqa7jKY7zaopW8IqBB05R5xMo0GXGX4BaQ',NULL,'next','2026-11-23T02:42:24.947+00:00',NULL,NULL,NULL);
INSERT INTO "signing_keys" VALUES('4bjvMLHK3z9QkX5imK9lka_P3DJbL1b47AiqyOII2sY','saml','RS256','{"kty":"RSA","n":"vZbbsxLYYGraCayx_BIbBDo5KXIx60wc0Xi7LNMXcoWu3SrgazuhfW4fO5yH9YVTP7Zg_1OP_O_KP2aFuN1E1lflA00RsDnCMNvmOvSXwisMrjJzJT9MJ1X5ReMDi_KGXhN4nHvn3FQpmt3CJQwT2aYNjBtGkf639aZeB4HroT2YZvQjzBtGgeAG7NsMjP5fm_6vdvYUFr_Wl8gUcIjY3Bd28Fg77cNckn_qLXZMrwROKqPKV4rqKLKSP0rOFeQUR1BjF-JxXIleFd5J_1pXjjcou60pB3pWKDzYFUSOYS45FGj28O8he0EMYZiKDQ-XK1QUux-tANJNb0lrbflELw","e":"AQAB","kid":"4bjvMLHK3z9QkX5imK9lka_P3DJbL1b47AiqyOII2sY","alg":"RS256","use":"sig"}','v1.JvsG8psY.HlA4kzr_5NiRBjbZ09R58ulV3r8a7LefodAFf_UT0Cc_b8k5ouBqVOyHLVQ3qwyJ5ZDk1bmoxIUm8jIu70Yxra3bQLQE1GKiStAUanUCXIF5lBPM-cQmYOyJMO_2UQypzV5PoG1mIiBOZraPamPcfXIU4T6BQ4qWTZt-DxG5znH8-xyg8wc9ZhbFSIxIJVABNB0ACCA1zR9iXY96D27FGHU4Yv-fmdm4ItlP20tm1zKgZxHxsNrP-UklUMzWnCZiKfq8PgYezZDkKH85waAE4fidBkP12uUXFLbS0Im8CxxKCfzjSTz_LJIgL8AKyl7SBQ_yydLyf0eXt_BHu3v_68XfMWACx-DtlNJ1VVvHIMV8_C3BMLhrOtshhJXkeLSYp8l4P0-tFhi-d8Jk0_LB_8Ka0-nACR8KYBOXKKXbuNNhhJN2m0DMXfeqhRsYJb2g_Kz5YhMClYfkfrSK1IdF70OFP7dGqJa-1qXqQ4k2ofwWVF6CKfTlGBvYaa2wScXrnQwozbk7rRCSAhJs51X1mC7RgVKpCQ-QyGbt_i2bmzaTvsX0Jbu8l6mYGHxtvMCMY1rv9nO6S9YhI7kUnTbO-XuKUVPfl_y9kzybHgGSqgq4AHOzn5k0k-jqskmUFGKspbO8OkC5s_UfCYBjBs2LXk1LAwMKqXLrggmMZFTAcJsGOKA9Y-sEE3ldGIzLt3HBMad7qn-12S8cv_AqN3r3hO-DsM-3MqncmyREE5xlij2TyHsrIbudEqLHTVP84ZptQrq4qeYeNY1XclEpNZS4y_kSFdGNTcJlGevZWNQpoo5VSyNGkgfNX_TAWoFOjJqIsnnE3yu7fqzuQDuXC2J2ChE8o8vuxfv6ytb2wcFJrtB8T2qtfeEixPdzuEIOvq_UMiBbEYJcaABAFrKekp90i5EVrim60ffZGnUsY93x0sUUcCsPxduQZ0ALe19FWSxRt0f5OCN-HeuKaoLT0bB3nDtCzmAkfDoT4QqDJxlhrtPaPwCjAX9QKc4P2CLohMcO7fSpAQyBtAamoHeh37yNDCNIYXCfKYQ76F9wj0BE6GPOUCnb0un9PUfMzEeyvetg2bxsEt51t9qB594L9Bya0BxlezL9nC-BXYAWvgPgkKV0nUKkHC_qBr3CGFoUe5lreAQPSWA4Lx_0hdM8BKopsZNTCnjhwFuSABQ0EVrhfh9J5LuWXW75ttJ4T8aNp_oz8zht9KwqKsf533r1n-KMYuottl8A1fPwFoHkLeUzoaLbS0SFU_Uqmt4DlSxB0JN7FYZ0BMswFreG1twIWEw0jApkb-aIkyjOluty-ASgKkL_1EuB29xKVlvrHlMDzs66d7oeReGdgmXTFVZtVYHCDovCpu9GYmr9ScBPo_pQpTA3EmhjqQyTcrN32Fzkich7PhLD6s5I963XCDJqmNxbLdv9I0UoVFa2tJXL2MFNv_K2p6E1K-gyRl5e2KQmZcSf4KJ_2UkxXdWQ8EARz99fUGxJOLC7T7fPQ9IAqOWhwDhJ5yZSlSDHiFlebkf_xqgiy1Z6bWPyonUAkm1smFVsKuHzae427Yv2PI7ilhQHuUC-J8157bIskYS-7wb9lEschE3FoOw5c01QAM5NrxVMcNtdXpHUzET88RQgkGC7xeIcZbfwq_K1CqmSpC4bKw','-----BEGIN CERTIFICATE-----
MIIC4TCCAcmgAwIBAgIQY/e8IidienaXd3rI5nkMkDANBgkqhkiG9w0BAQsFADAU
MRIwEAYDVQQDDAlsb2NhbGhvc3QwHhcNMjYxMTIzMDI0MjI1WhcNMjkxMTIyMDI0
MjI1WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwggEiMA0GCSqGSIb3DQEBAQUAA4IB
DwAwggEKAoIBAQC9ltuzEthgatoJrLH8EhsEOjkpcjHrTBzReLss0xdyha7dKuBr
O6F9bh87nIf1hVM/tmD/U4/878o/ZoW43UTWV+UDTRGwOcIw2+Y69JfCKwyuMnMl
P0wnVflF4wOL8oZeE3ice+fcVCma3cIlDBPZpg2MG0aR/rf1pl4HgeuhPZhm9CPM
G0aB4Abs2wyM/l+b/q929hQWv9aXyBRwiNjcF3bwWDvtw1ySf+otdkyvBE4qo8pX
iuoospI/Ss4V5BRHUGMX4nFciV4V3kn/WleONyi7rSkHelYoPNgVRI5hLjkUaPbw
7yF7QQxhmIoND5crVBS7H60A0k1vSWtt+UQvAgMBAAGjLzAtMAwGA1UdEwEB/wQC
MAAwHQYDVR0OBBYEFG4nV29DXY1Urnh8bnJz+nqioP+iMA0GCSqGSIb3DQEBCwUA
A4IBAQABGok9ZwC+uo2tMpu2iixtmvxPhy52UqaZongariD8P0d7gVcCznwCyT2u
zUTwQFI+GyPJPmHIpvYUjPwmC4IngjYi7pGsw4bKS37hRZM8koEVofrQvAz54AVp
eJjPrBzzh7jW9bKwcfO+7l/UvUTPky5dipIkiiOsuJAVLHt7xYbmlZHeP+BLPU+X
ec9U228itDwugOHWmg7rV+bbvPz/4VRtpFpafuV9FDwbXdC8ai6ez/G4H4uhmLP0
aq41rlt7T3VaMGseZTDGDya9NvJJOhhORuFh+8XVcTzQ+oGwm02gMJRIKIBVrO3C
JvaXn8DVe4+9IWxf4NFl54L9tLhY
-----END CERTIFICATE-----
','active','2026-11-23T02:42:25.750+00:00','2026-11-23T02:42:25.750+00:00',NULL,'2029-11-22T02:42:25.750+00:00');
INSERT INTO "signing_keys" VALUES('Cyh_704pIsrUTy-FPDJTfheArB5x1Ffu9ujrZ7rVaFI','saml-sp','RS256','{"kty":"RSA","n":"rkifolL6biq6r4QNnyB7tXIcHlAMjropA1azGHXukWx_acu8x_PwXI1XyVzswUKVrnHyAHq9Jz-nhL47IcUb9jE51TIXlbAK_eaIErpYBRrQ_w8RtAAZQ9nX0xJZzFKLDo0FcCdJlKGJnGFnxnHME4xk9m4Qh5FddgQBXira96EXe7F_uNS5M0d0R2IyM2VgiRyGFlFvlAEDiMJVLam6np2OyEKAKJlib32vZxmbajweIjgTKr0lOQZqOI74LUQecszucAiI47W82UCpzBmsqIufFdLPIYtManqvIXOY0WNkTZXsL2tUWqLS4COY-HeqAFjIRR8FQifQITc9_hArcw","e":"AQAB","kid":"Cyh_704pIsrUTy-FPDJTfheArB5x1Ffu9ujrZ7rVaFI","alg":"RS256","use":"sig"}','v1.JvsG8psY.-k8-rYKdHH13W0nqy2pm4Bqwbvcbil6-DOPelr-KVPDvbVspbJIiuPsAljqiJPAvwnR8i4V8ZL2Q1wjO5f-yHzOKr3ROkkWNBFm4NzyVcY2rrU3Eup4BIUlw54DwfAOoZXaZN73TNr6aGfDs0mQz9fthW10XdioDyNV1DFUzO16Q8iiHsN8EEgTwdEw2klgBNfcmS3gz566X_C9M-KoNSEOQreO3iFMpKq1lxDpn1oJz3d82jryC_rbH4gegshiqQvT_7Lz3hP9cT-NZgbDO6UcO2EWW0jPt347T4IlsnKF_lwpdp1b2UPuaDtB6_oD0PYLeKJ8-vtfWDvmURT8OWlk4RgPq0V3JjdLErQqtQzElxxY3J8ALZZy4Ugp1AoIG4p_DDXp3M01thTy5vQe022b82io59qLU6KJvF28y7OPSKyrE0u4YijkCJtaAPkWIN_Zw4Uh5ROsFNekFauOJI4ElauWP36FYAOU9VVsifwa4EIFExyGEt1o-nDtHEHpSEjr4WWPKrFUga_moAhG1btsWFZwiefFu4zEQLonvbqTCNllR-mMNxkzkhjght5F_DhiGtJV8DA9GgSSMR9qi_19bEZdSGorAG7Qchqsm2XJH4DDHb1kYXuKx2mGhTLU__8I3pfrdbQ2ag7vRQ4ZdUgyl4h8OEk5-JwO7xfW0gDTVjAH6I--o88LMOR1RuThenbdGC4B8YmFS9oBcWK1VDA6dIgqDipSnLXK2XX5_nlnUWGkg_8lQ8aPRiyNvUfKof1HXKRrZxl34BofCl010VLscPNnemqLtElrYU5eKHy359F7luATtBtoIXmcGmI4qi53hnrV-amoCvtT2b0g_V1hyF_cce8_QAy35c_RN9dcLQvYsyamHwg88rGjgaxlqzEyYpL8UyseJcCKfWK_nspPGAtQBWxGlrdmkCCSjZQi0SW6E5fyi13FjrxrQMsG2i3MhvOQH-jIgv4trsxlPQDFIWf1sZPI5CHqJkxKZp-Ac5hpOHZM6YBXKAdQyHORPtIpNIwNIa2TdACpwj4ZAISREPpQ2Rll4EpbsMyG2QDyB6FjHRp_EKTbjepIbl8ZtA5usPVZVggEtucMKYEaq3hnosNAxeMM3ItnKBUPGqLzybeY_T5G7TtCGqrqjKdxtGu74aWPq0lH5XE_92e6HiHZJARM0xDN56sOhpuQT08729rDQ0w8UjQsW43ct3-To0FRiCw5RC0IBvIGp5yF02iQGTcMcQ1hKyRQYLDtBBIXUNNye_KODEFvzGtmxFdn9yZNr35n4x30f-XHbo6ZxkBcWgzWozVJsahfij1HxiIxq30OULTTV6tzzBxhS4QSP6tkdVLAqpKvxDl7svi-6eLLghvDzmjX3_XCIgIKhWXmJPjHdyMOR57qPKiOq6v3U5M6JmyqFESI8yGTOpw66sZZFwNUZT8IrPuDTpKrYzDmLexiVKXNkIS8OGom8urG8Np9NkrHdb6CrJiz6QOhoDrJ_CrJYPH9WAvApz6Ku0GYqoWCc1u9NYXTQgpeVKevifEZ8Y7awwT-pHrKH7_cg0FDOTkJyfetKxDwd_l4Jsmov6WK8ZssWM28WDMIFsRnCwUqplbas_Twodwh5gcNmiJELy7CN190dCSe16EnZhqNLznALvFODXVPhWsUHRQ','-----BEGIN CERTIFICATE-----
MIIC4TCCAcmgAwIBAgIQRlooFDuLuEl146UmhogQsDANBgkqhkiG9w0BAQsFADAU
MRIwEAYDVQQDDAlsb2NhbGhvc3QwHhcNMjYxMTIzMDI0MjI5WhcNMjkxMTIyMDI0
MjI5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwggEiMA0GCSqGSIb3DQEBAQUAA4IB
DwAwggEKAoIBAQCuSJ+iUvpuKrqvhA2fIHu1chweUAyOuikDVrMYde6RbH9py7zH
8/BcjVfJXOzBQpWucfIAer0nP6eEvjshxRv2MTnVMheVsAr95ogSulgFGtD/DxG0
ABlD2dfTElnMUosOjQVwJ0mUoYmcYWfGccwTjGT2bhCHkV12BAFeKtr3oRd7sX+4
1LkzR3RHYjIzZWCJHIYWUW+UAQOIwlUtqbqenY7IQoAomWJvfa9nGZtqPB4iOBMq
vSU5Bmo4jvgtRB5yzO5wCIjjtbzZQKnMGayoi58V0s8hi0xqeq8hc5jRY2RNlewv
a1RaotLgI5j4d6oAWMhFHwVCJ9AhNz3+ECtzAgMBAAGjLzAtMAwGA1UdEwEB/wQC
MAAwHQYDVR0OBBYEFBEoZQAOF/40huaxG2lL5iiutWxuMA0GCSqGSIb3DQEBCwUA
A4IBAQBsmlELN953JUGZX/OfkhHw23oLB2Qp5DqkjvFfrBGvzpaA6TgwattTFMsL
qJCITAPexTapp7ouG+VO21yjI5ZxphHVPYD5ENPuCM3krT6ncfOIDGXF68cw9yU+
oCiu1OrFBVXMDGSkVKgGhNogAYrf7A915WrB1Qsy7P1pNfg8062VH1O2rDe1wzxF
i7Jy51bLt8xRkADdRpj7ZnZsVA8uzVkmfJN4LZyt9LJ70vn7u+w/GNbX0vmWBmh9
1la+d3uzMacVRkdePQr0IWFnwy3kdcOvhlEmuWI8atBi5f1dlVY1DhdNQ+89mUjq
fEEi2dPd4jstBbxD6b6oKOuX/ouT
-----END CERTIFICATE-----
','active','2026-11-23T02:42:29.174+00:00','2026-11-23T02:42:29.174+00:00',NULL,'2029-11-22T02:42:29.174+00:00');
INSERT INTO "signing_keys" VALUES('Oi5c24gHM9DNDk3sobJHI8k3bFoHuZf6bRyWBji7mjg','saml-sp-encryption','RSA-OAEP','{"kty":"RSA","n":"wymzxaNJ3YKG06UoecezkLJ8ywm5rnFGuh-47DvgxICwzBnQuFu8lNquU6e913w45BN2dSS7rIMorOPaWPBsXTmgYrKVg6Dg7i0LRYMXnAfQbefglM0vmpG4TAHfsiCTeotpN1OPLyX0eyuWKgLV6gZxTjm2nE9FI33TrzBmW_XJ6CgOu0REo9UsoW9xmlyMEV5U4Y86Euq4wCp6c2OTp4lgVs0VbPo7WU6ac3Wq4pNlvgNysIuFINzDEMcTrxhjLOUtKXSuKnLKexNl_dSlew2Qu6U_w52WhlWqSJzbxhoEQ2VfvE7Zj6JAEXUOgp5Nk6_uDYFy45d8CfcAXEHsHQ","e":"AQAB","kid":"Oi5c24gHM9DNDk3sobJHI8k3bFoHuZf6bRyWBji7mjg","alg":"RSA-OAEP","use":"enc"}','v1.JvsG8psY.BWRsGT4gC86cKxO7Z2ApzomR-OFz0Ee0Ib_HfcCH_wQ3UhfrCwTF-4BYE7i58vzXNi8rDofWo2HEDQVaVMr_aQAv7HfeIvHSomUniKjV4ZLzoaLoLBC-23uuLjIXsFzqXz_Rm8I6QSWQmCoJ0-c-sv2c7BTOC7LaaMMHdiFEbf1clN2TSSi7qYdt9dujc7f5LvvGMANMH2plLLvW4zdsudZ4qDk7nZuobbPdO0gEdGfmHG5ls5HrVvMN_0CRLcT79blG7lF45ha0N2alb9B9b6gSPPXTfoDOFcDFDMMev2t49CvhjYjil4NB6PU9-WLkBNfiG2jyX60zkhzQVWqQLVYc84znHYtv0rY42v2kLEXaBkJfje-QaDqE5pufd0Uf-L8fVFYEKAxx4qFCqFOdD2FR4CGCm3V6_sJ4N-9kO3jz2a6MYijRL4ZTekRHTNiejTUhYuSG23I_LPoq00KlT0gyOsFSza2HU1q6DPVxyXUb2pqi6Dphmb5gAPmgmVoO7hXyzCGtIVDIZBz4gRgzabFf2hhD96QBT-5H--h_C0PsSh6eKxqe8wnZsopWltesi6hvzV1SYZLdj3w_2NjRJX6Eqwn3p-ipPYsFkpzBY0A840y8xaj6618Hk6qB9UU-zkpL5sYzC9ZqfviJZNZwf8oIHVWV5FAxQ3T39lMuTPmVH7DCQKOuIkHTwS2xBQXc_KnbGp4lagEGVV2wjQveflBfLFHzqmMkr42-d_2Pe9KAUTsWhA066axN3vTCnyKqXcrFX1oYf-xZyzXd2GTow5HW6QatsdzQVn5y5FOo0sWR4SDHWAHkB6byMzRH-jQCHvowVO9QNVM6gUEIe3QZGuuWaFMWdM3CTc3-jVyspaAXWJ2SxpkWks1pm7rJro6IxLWsTXUweWtKEK2cMKS3wruVK1JAh0fXFll_Cai03IEECb1HegFVn_Ll0Bg8xAbitrTYZU7bNBk_CRE8TQ0QRPnT5iUuOjjgIE0CS73B0Ugv1g93eUfhqSuBgBbzQJzFUWxQLS-hCJ5aKkYmIGqgo2DCHk24T8_3rq_8Mt2ATkuX_bhd2KIUpgIcvzL5z2fpiPOehcEPXIERsHpOGauLx72LYS6EIFsIf0y80TPsAWIUV5BS-LpiQfLGxYt10JG0KaKtVGSH-pDrS7FPy2l-Xo4gQzwtepAuzS71SVMJkZAhA03y8k6s2h_pYM3lB1PuN-FOWXjntCCFkDfiBCypAz3ucEgozGC5i0fH7azMmF4DHyx8yRacRFkCfzlf7sWsld16HQob_egW72sJH5KHvhQ1G0LlfgKbOhw51GOVmQl0hv7wT6OKTsiR6V_HQdYTIzuifDylXeXW2JvwHHJad8uTl_nzlXNK-EhDh4TzbXx7goYQvoRK1kID4xoD3ZGQUJACk91ZSCBsgaS4D_joHtC6YnRCP5Fw6KIMBb854Kgp75Pz-6LBFX9nRAHFJxs6p8NUj51XhbhLNEAdF1fpUDIU088OJ1_BUvf2BbMZbHIiPmyQGZ2umRoEbFNsOWKHJgqvp0vTIO5xotn8Fln5xrucKfsUWr4qwznZ2bGc7KrZek46Ai7glF-iQ4LgatuoT8SH4tLN6jyBUdAp-1n4uXOb7ypzxBNIl-nRj-5yqKh2KlmT69-1U963D9pXYA','-----BEGIN CERTIFICATE-----
MIIC4TCCAcmgAwIBAgIQUqR2kjobBnjODF1moEdIrTANBgkqhkiG9w0BAQsFADAU
MRIwEAYDVQQDDAlsb2NhbGhvc3QwHhcNMjYxMTIzMDI0MjI4WhcNMjkxMTIyMDI0
MjI4WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwggEiMA0GCSqGSIb3DQEBAQUAA4IB
DwAwggEKAoIBAQDDKbPFo0ndgobTpSh5x7OQsnzLCbmucUa6H7jsO+DEgLDMGdC4
W7yU2q5Tp73XfDjkE3Z1JLusgyis49pY8GxdOaBispWDoODuLQtFgxecB9Bt5+CU
zS+akbhMAd+yIJN6i2k3U48vJfR7K5YqAtXqBnFOObacT0UjfdOvMGZb9cnoKA67
RESj1Syhb3GaXIwRXlThjzoS6rjAKnpzY5OniWBWzRVs+jtZTppzdarik2W+A3Kw
i4Ug3MMQxxOvGGMs5S0pdK4qcsp7E2X91KV7DZC7pT/DnZaGVapInNvGGgRDZV+8
TtmPokARdQ6Cnk2Tr+4NgXLjl3wJ9wBcQewdAgMBAAGjLzAtMAwGA1UdEwEB/wQC
MAAwHQYDVR0OBBYEFOfyCgO1Wq6snyjN7Pb06lHUOFvcMA0GCSqGSIb3DQEBCwUA
A4IBAQB/9S8B5LQn3Avp2cI68w/G1P4G9E9cUCWUTR07OXsubn8syYj10anSZfLV
d+dSyF1ZDTU9FoSOK9dL5HZ6xVzpoYgrX6Nomu2xWFcT9Nr6JqBTSuy3MlJZ+tL1
FlCbFcbs5+s5kgSTn3oy9Bka4WL2o18ZhLUSXWLSTqcCMyBE5QKEKiNG4wV5vhEB
2fV38BggVo/umoJQqDs/nbNvnBiUMnzh71zgpLo3/dO+OlM65+RTqlSDGTB3hsHV
xf4W4Q4zrldNAFIOpbzUMVPuGQGdbub9GLmn5BkatvdIA/SC7sFAxYJL1F8k9GTo
Ngiz5EoUzQJN3X+7OAehpxcR2gym
-----END CERTIFICATE-----
','active','2026-11-23T02:42:28.241+00:00','2026-11-23T02:42:28.241+00:00',NULL,'2029-11-22T02:42:28.241+00:00');
CREATE TABLE "stored_forms" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "form_sealed" TEXT NOT NULL,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME NOT NULL
);
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
CREATE TABLE "user_roles" (
    "user_id" TEXT NOT NULL,
    "role_id" TEXT NOT NULL,
    "via" TEXT NOT NULL DEFAULT '',
    "mac" TEXT NOT NULL DEFAULT '',

    PRIMARY KEY ("user_id", "role_id", "via"),
    CONSTRAINT "user_roles_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "user_roles_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "roles" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
INSERT INTO "user_roles" VALUES('tGZL0kOnOo-HJY1E565tST-i','Zf58i6cu4xEYUE7oWp5WwjNw','','Ngk-gErl.x4DhYSHhO8nDFuQ0JQJN5OQ4k490oCVyhAuEQcuCjBg');
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
, "search_key" TEXT NOT NULL DEFAULT '', "middle_name" TEXT, "nickname" TEXT, "profile" TEXT, "website" TEXT, "gender" TEXT, "birthdate" TEXT, "phone_number_verified" BOOLEAN NOT NULL DEFAULT false, "address" TEXT, "mac" TEXT NOT NULL DEFAULT '');
INSERT INTO "users" VALUES('EeYJwxbvvhALigE5gjW-8ria','ann','ann','ann@example.com','ann@example.com',1,'Ann Example',NULL,NULL,NULL,NULL,NULL,NULL,'{}',NULL,1,'local','2026-11-23T02:41:32.509+00:00','2026-11-23T02:41:32.509+00:00','ann
ann@example.com
ann example',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,'Ngk-gErl.YsSsKO3cn1OkhvDxph1RWrT-bi8BLzAjl5p2zv2ysK0');
INSERT INTO "users" VALUES('tGZL0kOnOo-HJY1E565tST-i','root','root','root@example.com','root@example.com',0,'Root',NULL,NULL,NULL,NULL,NULL,NULL,'{}',NULL,1,'local','2026-11-23T02:41:48.209+00:00','2026-11-23T02:41:48.209+00:00','root
root@example.com
root',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,'Ngk-gErl.om5S-A4Jb-TpcEyRPsVeefPNpoZXwMjn3ZG2usSZuxE');
CREATE UNIQUE INDEX "users_username_key_key" ON "users"("username_key");
CREATE UNIQUE INDEX "users_email_key_key" ON "users"("email_key");
CREATE UNIQUE INDEX "permissions_resource_action_key" ON "permissions"("resource", "action");
CREATE INDEX "role_permissions_permission_id_idx" ON "role_permissions"("permission_id");
CREATE UNIQUE INDEX "recovery_codes_user_id_code_hash_key" ON "recovery_codes"("user_id", "code_hash");
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
CREATE INDEX "rate_limits_expires_at_idx" ON "rate_limits"("expires_at");
CREATE INDEX "oidc_artifacts_uid_model_idx" ON "oidc_artifacts"("uid", "model");
CREATE INDEX "users_created_at_id_is_active_source_search_key_idx" ON "users"("created_at", "id", "is_active", "source", "search_key");
CREATE INDEX "idempotency_keys_expires_at_idx" ON "idempotency_keys"("expires_at");
CREATE INDEX "applications_protocol_name_id_idx" ON "applications"("protocol", "name", "id");
CREATE INDEX "applications_name_id_idx" ON "applications"("name", "id");
CREATE INDEX "session_devices_created_at_uid_idx" ON "session_devices"("created_at", "uid");
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
CREATE UNIQUE INDEX "audit_events_chain_seq_key" ON "audit_events"("chain_seq");
CREATE INDEX "audit_events_at_idx" ON "audit_events"("at");
CREATE INDEX "audit_events_actor_id_id_idx" ON "audit_events"("actor_id", "id");
CREATE INDEX "audit_events_subject_id_id_idx" ON "audit_events"("subject_id", "id");
CREATE INDEX "audit_events_client_id_id_idx" ON "audit_events"("client_id", "id");
CREATE INDEX "audit_events_request_id_idx" ON "audit_events"("request_id");
CREATE INDEX "audit_events_type_id_idx" ON "audit_events"("type", "id");
CREATE INDEX "audit_events_type_at_outcome_client_id_idx" ON "audit_events"("type", "at", "outcome", "client_id");
CREATE UNIQUE INDEX "data_keys_purpose_generation_key" ON "data_keys"("purpose", "generation");
CREATE INDEX "application_users_user_id_idx" ON "application_users"("user_id");
CREATE UNIQUE INDEX "roles_name_key" ON "roles"("name");
CREATE INDEX "user_roles_role_id_idx" ON "user_roles"("role_id");
CREATE INDEX "password_credentials_kind_idx" ON "password_credentials"("kind");
CREATE INDEX "passkeys_user_id_idx" ON "passkeys"("user_id");
CREATE UNIQUE INDEX "password_reset_tokens_token_hash_key" ON "password_reset_tokens"("token_hash");
CREATE INDEX "password_reset_tokens_user_id_idx" ON "password_reset_tokens"("user_id");
CREATE INDEX "password_reset_tokens_expires_at_idx" ON "password_reset_tokens"("expires_at");
CREATE UNIQUE INDEX "mail_tokens_token_hash_key" ON "mail_tokens"("token_hash");
CREATE INDEX "mail_tokens_user_id_purpose_idx" ON "mail_tokens"("user_id", "purpose");
CREATE INDEX "mail_tokens_expires_at_idx" ON "mail_tokens"("expires_at");
CREATE INDEX "stored_forms_user_id_idx" ON "stored_forms"("user_id");
CREATE INDEX "stored_forms_expires_at_idx" ON "stored_forms"("expires_at");
CREATE INDEX "connections_position_id_idx" ON "connections"("position", "id");
CREATE INDEX "connection_secrets_connection_id_idx" ON "connection_secrets"("connection_id");
CREATE INDEX "connection_documents_next_read_at_idx" ON "connection_documents"("next_read_at");
CREATE INDEX "connection_domains_connection_id_idx" ON "connection_domains"("connection_id");
CREATE INDEX "connection_role_mappings_role_id_idx" ON "connection_role_mappings"("role_id");
CREATE INDEX "external_identities_user_id_idx" ON "external_identities"("user_id");
CREATE UNIQUE INDEX "external_identities_connection_id_subject_key" ON "external_identities"("connection_id", "subject");
CREATE UNIQUE INDEX "upstream_requests_answer_id_key" ON "upstream_requests"("answer_id");
CREATE INDEX "upstream_requests_expires_at_idx" ON "upstream_requests"("expires_at");
CREATE INDEX "upstream_sessions_session_uid_idx" ON "upstream_sessions"("session_uid");
CREATE INDEX "upstream_sessions_connection_id_subject_idx" ON "upstream_sessions"("connection_id", "subject");
CREATE INDEX "upstream_sessions_connection_id_sid_idx" ON "upstream_sessions"("connection_id", "sid");
CREATE INDEX "upstream_sessions_connection_id_name_id_hash_idx" ON "upstream_sessions"("connection_id", "name_id_hash");
CREATE INDEX "upstream_sessions_user_id_idx" ON "upstream_sessions"("user_id");
CREATE INDEX "upstream_sessions_expires_at_idx" ON "upstream_sessions"("expires_at");
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('audit_events',25);
