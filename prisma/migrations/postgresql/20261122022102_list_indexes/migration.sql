-- DropIndex
DROP INDEX "oidc_artifacts_account_id_model_idx";

-- DropIndex
DROP INDEX "audit_events_type_at_idx";

-- CreateIndex
CREATE INDEX "oidc_artifacts_account_id_model_expires_at_idx" ON "oidc_artifacts"("account_id", "model", "expires_at");

-- CreateIndex
CREATE INDEX "mail_messages_created_at_id_sent_at_failed_at_idx" ON "mail_messages"("created_at", "id", "sent_at", "failed_at");

-- CreateIndex
CREATE INDEX "mail_messages_failed_at_idx" ON "mail_messages"("failed_at");

-- CreateIndex
CREATE INDEX "audit_events_type_id_idx" ON "audit_events"("type", "id");

-- CreateIndex
CREATE INDEX "audit_events_type_at_outcome_client_id_idx" ON "audit_events"("type", "at", "outcome", "client_id");
