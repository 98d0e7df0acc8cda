-- RedefineTables
PRAGMA defer_foreign_keys=ON;
PRAGMA foreign_keys=OFF;
CREATE TABLE "new_mail_messages" (
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
    "user_id" TEXT
);
INSERT INTO "new_mail_messages" ("body_sealed", "created_at", "failed_at", "id", "last_error", "next_try_at", "recipient", "sent_at", "subject", "tries") SELECT "body_sealed", "created_at", "failed_at", "id", "last_error", "next_try_at", "recipient", "sent_at", "subject", "tries" FROM "mail_messages";
DROP TABLE "mail_messages";
ALTER TABLE "new_mail_messages" RENAME TO "mail_messages";
CREATE INDEX "mail_messages_sent_at_failed_at_next_try_at_idx" ON "mail_messages"("sent_at", "failed_at", "next_try_at");
CREATE INDEX "mail_messages_user_id_created_at_idx" ON "mail_messages"("user_id", "created_at");
CREATE INDEX "mail_messages_created_at_id_sent_at_failed_at_idx" ON "mail_messages"("created_at", "id", "sent_at", "failed_at");
CREATE INDEX "mail_messages_failed_at_idx" ON "mail_messages"("failed_at");
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;
