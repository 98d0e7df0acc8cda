-- DropIndex
DROP INDEX "oidc_artifacts_client_id_model_idx";

-- DropIndex
DROP INDEX "oidc_artifacts_uid_idx";

-- CreateIndex
CREATE INDEX "oidc_artifacts_uid_model_idx" ON "oidc_artifacts"("uid", "model");
