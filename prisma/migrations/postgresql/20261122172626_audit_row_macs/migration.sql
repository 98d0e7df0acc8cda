-- AlterTable
ALTER TABLE "audit_events" ADD COLUMN     "digest" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "row_mac" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "salt" TEXT;

-- CreateTable
CREATE TABLE "data_keys" (
    "id" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "key_sealed" TEXT NOT NULL,
    "created_at" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "data_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_checkpoints" (
    "kind" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "hash" TEXT NOT NULL,
    "at" TIMESTAMP(3) NOT NULL,
    "key_id" TEXT NOT NULL,
    "signature" TEXT NOT NULL,

    CONSTRAINT "audit_checkpoints_pkey" PRIMARY KEY ("kind","seq")
);

-- CreateIndex
CREATE UNIQUE INDEX "data_keys_purpose_generation_key" ON "data_keys"("purpose", "generation");
