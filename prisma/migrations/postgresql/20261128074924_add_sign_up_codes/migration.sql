-- CreateTable
CREATE TABLE "sign_up_codes" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "code_hash" TEXT NOT NULL,
    "max_uses" INTEGER NOT NULL,
    "uses" INTEGER NOT NULL DEFAULT 0,
    "source" TEXT NOT NULL,
    "created_by" TEXT,
    "created_at" TIMESTAMP(3) NOT NULL,
    "expires_at" TIMESTAMP(3),
    "mac" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "sign_up_codes_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "sign_up_codes_name_key" ON "sign_up_codes"("name");

-- CreateIndex
CREATE UNIQUE INDEX "sign_up_codes_code_hash_key" ON "sign_up_codes"("code_hash");

-- CreateIndex
CREATE INDEX "sign_up_codes_expires_at_idx" ON "sign_up_codes"("expires_at");
