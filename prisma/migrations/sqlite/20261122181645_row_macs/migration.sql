-- RedefineTables
PRAGMA defer_foreign_keys=ON;
PRAGMA foreign_keys=OFF;
CREATE TABLE "new_roles" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "source" TEXT NOT NULL DEFAULT 'local',
    "mac" TEXT NOT NULL DEFAULT '',
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);
INSERT INTO "new_roles" ("created_at", "description", "id", "name", "source") SELECT "created_at", "description", "id", "name", "source" FROM "roles";
DROP TABLE "roles";
ALTER TABLE "new_roles" RENAME TO "roles";
CREATE UNIQUE INDEX "roles_name_key" ON "roles"("name");
CREATE TABLE "new_user_roles" (
    "user_id" TEXT NOT NULL,
    "role_id" TEXT NOT NULL,
    "via" TEXT NOT NULL DEFAULT '',
    "mac" TEXT NOT NULL DEFAULT '',

    PRIMARY KEY ("user_id", "role_id", "via"),
    CONSTRAINT "user_roles_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "user_roles_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "roles" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
INSERT INTO "new_user_roles" ("role_id", "user_id", "via") SELECT "role_id", "user_id", "via" FROM "user_roles";
DROP TABLE "user_roles";
ALTER TABLE "new_user_roles" RENAME TO "user_roles";
CREATE INDEX "user_roles_role_id_idx" ON "user_roles"("role_id");
CREATE TABLE "new_password_credentials" (
    "user_id" TEXT NOT NULL PRIMARY KEY,
    "hash" TEXT NOT NULL,
    "must_change" BOOLEAN NOT NULL DEFAULT false,
    "mac" TEXT NOT NULL DEFAULT '',
    "long" BOOLEAN NOT NULL DEFAULT false,
    "changed_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "kind" TEXT NOT NULL DEFAULT '',
    CONSTRAINT "password_credentials_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
INSERT INTO "new_password_credentials" ("changed_at", "hash", "kind", "long", "must_change", "user_id") SELECT "changed_at", "hash", "kind", "long", "must_change", "user_id" FROM "password_credentials";
DROP TABLE "password_credentials";
ALTER TABLE "new_password_credentials" RENAME TO "password_credentials";
CREATE INDEX "password_credentials_kind_idx" ON "password_credentials"("kind");
CREATE TABLE "new_passkeys" (
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
INSERT INTO "new_passkeys" ("aaguid", "backed_up", "counter", "created_at", "discoverable", "id", "last_used_at", "name", "public_key", "transports", "user_id", "user_verified") SELECT "aaguid", "backed_up", "counter", "created_at", "discoverable", "id", "last_used_at", "name", "public_key", "transports", "user_id", "user_verified" FROM "passkeys";
DROP TABLE "passkeys";
ALTER TABLE "new_passkeys" RENAME TO "passkeys";
CREATE INDEX "passkeys_user_id_idx" ON "passkeys"("user_id");
CREATE TABLE "new_phone_factors" (
    "user_id" TEXT NOT NULL PRIMARY KEY,
    "number" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',
    "confirmed_at" DATETIME NOT NULL,
    CONSTRAINT "phone_factors_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
INSERT INTO "new_phone_factors" ("confirmed_at", "number", "user_id") SELECT "confirmed_at", "number", "user_id" FROM "phone_factors";
DROP TABLE "phone_factors";
ALTER TABLE "new_phone_factors" RENAME TO "phone_factors";
CREATE TABLE "new_password_reset_tokens" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',
    "expires_at" DATETIME NOT NULL,
    "used_at" DATETIME,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "password_reset_tokens_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
INSERT INTO "new_password_reset_tokens" ("created_at", "expires_at", "id", "token_hash", "used_at", "user_id") SELECT "created_at", "expires_at", "id", "token_hash", "used_at", "user_id" FROM "password_reset_tokens";
DROP TABLE "password_reset_tokens";
ALTER TABLE "new_password_reset_tokens" RENAME TO "password_reset_tokens";
CREATE UNIQUE INDEX "password_reset_tokens_token_hash_key" ON "password_reset_tokens"("token_hash");
CREATE INDEX "password_reset_tokens_user_id_idx" ON "password_reset_tokens"("user_id");
CREATE INDEX "password_reset_tokens_expires_at_idx" ON "password_reset_tokens"("expires_at");
CREATE TABLE "new_mail_tokens" (
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
INSERT INTO "new_mail_tokens" ("created_at", "data", "expires_at", "id", "purpose", "token_hash", "used_at", "user_id") SELECT "created_at", "data", "expires_at", "id", "purpose", "token_hash", "used_at", "user_id" FROM "mail_tokens";
DROP TABLE "mail_tokens";
ALTER TABLE "new_mail_tokens" RENAME TO "mail_tokens";
CREATE UNIQUE INDEX "mail_tokens_token_hash_key" ON "mail_tokens"("token_hash");
CREATE INDEX "mail_tokens_user_id_purpose_idx" ON "mail_tokens"("user_id", "purpose");
CREATE INDEX "mail_tokens_expires_at_idx" ON "mail_tokens"("expires_at");
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;
