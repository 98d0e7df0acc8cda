-- Rows from before have no MAC: such a logout ends without its remaining steps.
ALTER TABLE "logout_runs" ADD COLUMN "mac" TEXT NOT NULL DEFAULT '';
ALTER TABLE "logout_participants" ADD COLUMN "mac" TEXT NOT NULL DEFAULT '';
ALTER TABLE "logout_deliveries" ADD COLUMN "mac" TEXT NOT NULL DEFAULT '';
