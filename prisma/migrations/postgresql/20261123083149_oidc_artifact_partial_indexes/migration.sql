-- DropIndex
DROP INDEX "oidc_artifacts_grant_id_idx";

-- DropIndex
DROP INDEX "oidc_artifacts_user_code_idx";

-- DropIndex
DROP INDEX "oidc_artifacts_uid_model_idx";

-- DropIndex
DROP INDEX "oidc_artifacts_account_id_model_expires_at_idx";

-- CreateIndex
CREATE INDEX "oidc_artifacts_grant_id_idx" ON "oidc_artifacts"("grant_id") WHERE ("grant_id" IS NOT NULL);

-- CreateIndex
CREATE INDEX "oidc_artifacts_user_code_idx" ON "oidc_artifacts"("user_code") WHERE ("user_code" IS NOT NULL);

-- CreateIndex
CREATE INDEX "oidc_artifacts_uid_model_idx" ON "oidc_artifacts"("uid", "model") WHERE ("uid" IS NOT NULL);

-- CreateIndex
CREATE INDEX "oidc_artifacts_account_id_model_expires_at_idx" ON "oidc_artifacts"("account_id", "model", "expires_at") WHERE ("account_id" IS NOT NULL);
