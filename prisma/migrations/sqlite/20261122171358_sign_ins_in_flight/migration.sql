-- AlterTable
ALTER TABLE "rate_limits" ADD COLUMN "in_flight" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "rate_limits" ADD COLUMN "in_flight_until" BIGINT NOT NULL DEFAULT 0;
