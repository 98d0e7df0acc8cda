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
    "expires_at" DATETIME NOT NULL
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
    CONSTRAINT "logout_participants_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "logout_runs" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- RedefineTables
PRAGMA defer_foreign_keys=ON;
PRAGMA foreign_keys=OFF;
CREATE TABLE "new_logout_deliveries" (
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
INSERT INTO "new_logout_deliveries" ("account_id", "client_id", "created_at", "done_at", "failed_at", "id", "last_error", "next_try_at", "sid", "tries") SELECT "account_id", "client_id", "created_at", "done_at", "failed_at", "id", "last_error", "next_try_at", "sid", "tries" FROM "logout_deliveries";
DROP TABLE "logout_deliveries";
ALTER TABLE "new_logout_deliveries" RENAME TO "logout_deliveries";
CREATE INDEX "logout_deliveries_done_at_failed_at_next_try_at_idx" ON "logout_deliveries"("done_at", "failed_at", "next_try_at");
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;

-- CreateIndex
CREATE INDEX "logout_runs_finished_at_seen_at_idx" ON "logout_runs"("finished_at", "seen_at");

-- CreateIndex
CREATE INDEX "logout_runs_expires_at_idx" ON "logout_runs"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "logout_participants_message_id_key" ON "logout_participants"("message_id");

-- CreateIndex
CREATE INDEX "logout_participants_run_id_idx" ON "logout_participants"("run_id");

-- AlterTable
ALTER TABLE "session_devices" ADD COLUMN "browser_id" TEXT;
