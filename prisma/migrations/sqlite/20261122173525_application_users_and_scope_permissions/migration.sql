-- CreateTable
CREATE TABLE "application_users" (
    "application_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "first_used_at" DATETIME NOT NULL,

    PRIMARY KEY ("application_id", "user_id"),
    CONSTRAINT "application_users_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "application_users_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- RedefineTables
PRAGMA defer_foreign_keys=ON;
PRAGMA foreign_keys=OFF;
CREATE TABLE "new_resources" (
    "identifier" TEXT NOT NULL PRIMARY KEY,
    "scopes" TEXT NOT NULL,
    "scope_permissions" TEXT NOT NULL DEFAULT '{}',
    "signing_alg" TEXT NOT NULL DEFAULT 'RS256',
    "source" TEXT NOT NULL DEFAULT 'local',
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);
INSERT INTO "new_resources" ("created_at", "identifier", "scopes", "signing_alg", "source") SELECT "created_at", "identifier", "scopes", "signing_alg", "source" FROM "resources";
DROP TABLE "resources";
ALTER TABLE "new_resources" RENAME TO "resources";
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;

-- CreateIndex
CREATE INDEX "application_users_user_id_idx" ON "application_users"("user_id");
