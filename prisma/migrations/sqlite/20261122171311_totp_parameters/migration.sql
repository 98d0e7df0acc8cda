-- RedefineTables
PRAGMA defer_foreign_keys=ON;
PRAGMA foreign_keys=OFF;
CREATE TABLE "new_totp_credentials" (
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
INSERT INTO "new_totp_credentials" ("confirmed_at", "created_at", "last_step", "secret_sealed", "user_id") SELECT "confirmed_at", "created_at", "last_step", "secret_sealed", "user_id" FROM "totp_credentials";
DROP TABLE "totp_credentials";
ALTER TABLE "new_totp_credentials" RENAME TO "totp_credentials";
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;
