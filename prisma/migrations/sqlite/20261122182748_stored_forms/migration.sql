-- CreateTable
CREATE TABLE "stored_forms" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" TEXT NOT NULL,
    "form_sealed" TEXT NOT NULL,
    "created_at" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" DATETIME NOT NULL
);

-- CreateIndex
CREATE INDEX "stored_forms_user_id_idx" ON "stored_forms"("user_id");

-- CreateIndex
CREATE INDEX "stored_forms_expires_at_idx" ON "stored_forms"("expires_at");
