-- CreateTable
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

-- CreateIndex
CREATE INDEX "refusals_at_id_idx" ON "refusals"("at", "id");

-- CreateIndex
CREATE INDEX "refusals_client_id_at_idx" ON "refusals"("client_id", "at");

-- CreateIndex
CREATE INDEX "refusals_subject_id_at_idx" ON "refusals"("subject_id", "at");

-- CreateIndex
CREATE INDEX "refusals_request_id_idx" ON "refusals"("request_id");

-- CreateIndex
CREATE INDEX "refusals_expires_at_idx" ON "refusals"("expires_at");
