-- AlterTable
ALTER TABLE "logout_deliveries" ADD COLUMN     "channel" TEXT NOT NULL DEFAULT 'back',
ADD COLUMN     "participant_id" TEXT;

-- CreateTable
CREATE TABLE "logout_runs" (
    "id" TEXT NOT NULL,
    "browser_hash" TEXT,
    "user_id" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "asked_by" TEXT,
    "answer" TEXT NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "seen_at" TIMESTAMP(3) NOT NULL,
    "finished_at" TIMESTAMP(3),
    "expires_at" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "logout_runs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "logout_participants" (
    "id" TEXT NOT NULL,
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
    "deadline" TIMESTAMP(3),
    "settled_at" TIMESTAMP(3),

    CONSTRAINT "logout_participants_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "logout_runs_finished_at_seen_at_idx" ON "logout_runs"("finished_at", "seen_at");

-- CreateIndex
CREATE INDEX "logout_runs_expires_at_idx" ON "logout_runs"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "logout_participants_message_id_key" ON "logout_participants"("message_id");

-- CreateIndex
CREATE INDEX "logout_participants_run_id_idx" ON "logout_participants"("run_id");

-- AddForeignKey
ALTER TABLE "logout_participants" ADD CONSTRAINT "logout_participants_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "logout_runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AlterTable
ALTER TABLE "session_devices" ADD COLUMN "browser_id" TEXT;
