-- RedefineTables
PRAGMA defer_foreign_keys=ON;
PRAGMA foreign_keys=OFF;
CREATE TABLE "new_first_factor_approvals" (
    "user_id" TEXT NOT NULL PRIMARY KEY,
    "requested_at" DATETIME,
    "allowed_until" DATETIME,
    "reset_by_mail_at" DATETIME,
    "mac" TEXT NOT NULL DEFAULT '',
    CONSTRAINT "first_factor_approvals_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
INSERT INTO "new_first_factor_approvals" ("allowed_until", "requested_at", "reset_by_mail_at", "user_id") SELECT "allowed_until", "requested_at", "reset_by_mail_at", "user_id" FROM "first_factor_approvals";
DROP TABLE "first_factor_approvals";
ALTER TABLE "new_first_factor_approvals" RENAME TO "first_factor_approvals";
CREATE TABLE "new_saml_metadata" (
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
INSERT INTO "new_saml_metadata" ("application_id", "next_read_at", "pending_key", "pending_since", "pending_xml", "rejected_key", "url") SELECT "application_id", "next_read_at", "pending_key", "pending_since", "pending_xml", "rejected_key", "url" FROM "saml_metadata";
DROP TABLE "saml_metadata";
ALTER TABLE "new_saml_metadata" RENAME TO "saml_metadata";
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;
