-- DropIndex
DROP INDEX "users_sso_id_key";

-- CreateTable
CREATE TABLE "connections" (
    "id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "preset" TEXT NOT NULL DEFAULT 'generic',
    "name" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "position" INTEGER NOT NULL DEFAULT 0,
    "settings" TEXT NOT NULL,
    "source" TEXT NOT NULL DEFAULT 'local',
    "mac" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "connections_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "connection_secrets" (
    "id" TEXT NOT NULL,
    "connection_id" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "value_sealed" TEXT NOT NULL,
    "created_at" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMP(3),

    CONSTRAINT "connection_secrets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "connection_documents" (
    "connection_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',
    "read_at" TIMESTAMP(3) NOT NULL,
    "next_read_at" TIMESTAMP(3) NOT NULL,
    "failing_since" TIMESTAMP(3),
    "last_error" TEXT,

    CONSTRAINT "connection_documents_pkey" PRIMARY KEY ("connection_id","kind")
);

-- CreateTable
CREATE TABLE "connection_domains" (
    "domain" TEXT NOT NULL,
    "connection_id" TEXT NOT NULL,
    "challenge" TEXT NOT NULL,
    "proven_at" TIMESTAMP(3),
    "checked_at" TIMESTAMP(3),
    "mac" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "connection_domains_pkey" PRIMARY KEY ("domain")
);

-- CreateTable
CREATE TABLE "connection_role_mappings" (
    "connection_id" TEXT NOT NULL,
    "group_name" TEXT NOT NULL,
    "role_id" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "connection_role_mappings_pkey" PRIMARY KEY ("connection_id","group_name","role_id")
);

-- CreateTable
CREATE TABLE "external_identities" (
    "id" TEXT NOT NULL,
    "connection_id" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "label" TEXT NOT NULL DEFAULT '',
    "mac" TEXT NOT NULL DEFAULT '',
    "linked_at" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMP(3),

    CONSTRAINT "external_identities_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "upstream_requests" (
    "id" TEXT NOT NULL,
    "connection_id" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "bound_to" TEXT NOT NULL,
    "data_sealed" TEXT NOT NULL,
    "answer_id" TEXT,
    "answer_sealed" TEXT,
    "redeemed_at" TIMESTAMP(3),
    "created_at" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "upstream_requests_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "upstream_sessions" (
    "id" TEXT NOT NULL,
    "session_uid" TEXT NOT NULL,
    "connection_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "sid" TEXT,
    "name_id_hash" TEXT,
    "data_sealed" TEXT NOT NULL,
    "mac" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "upstream_sessions_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "connections_position_id_idx" ON "connections"("position", "id");

-- CreateIndex
CREATE INDEX "connection_secrets_connection_id_idx" ON "connection_secrets"("connection_id");

-- CreateIndex
CREATE INDEX "connection_documents_next_read_at_idx" ON "connection_documents"("next_read_at");

-- CreateIndex
CREATE INDEX "connection_domains_connection_id_idx" ON "connection_domains"("connection_id");

-- CreateIndex
CREATE INDEX "connection_role_mappings_role_id_idx" ON "connection_role_mappings"("role_id");

-- CreateIndex
CREATE INDEX "external_identities_user_id_idx" ON "external_identities"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "external_identities_connection_id_subject_key" ON "external_identities"("connection_id", "subject");

-- CreateIndex
CREATE UNIQUE INDEX "upstream_requests_answer_id_key" ON "upstream_requests"("answer_id");

-- CreateIndex
CREATE INDEX "upstream_requests_expires_at_idx" ON "upstream_requests"("expires_at");

-- CreateIndex
CREATE INDEX "upstream_sessions_session_uid_idx" ON "upstream_sessions"("session_uid");

-- CreateIndex
CREATE INDEX "upstream_sessions_connection_id_subject_idx" ON "upstream_sessions"("connection_id", "subject");

-- CreateIndex
CREATE INDEX "upstream_sessions_connection_id_sid_idx" ON "upstream_sessions"("connection_id", "sid");

-- CreateIndex
CREATE INDEX "upstream_sessions_connection_id_name_id_hash_idx" ON "upstream_sessions"("connection_id", "name_id_hash");

-- CreateIndex
CREATE INDEX "upstream_sessions_user_id_idx" ON "upstream_sessions"("user_id");

-- CreateIndex
CREATE INDEX "upstream_sessions_expires_at_idx" ON "upstream_sessions"("expires_at");

-- AddForeignKey
ALTER TABLE "connection_secrets" ADD CONSTRAINT "connection_secrets_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "connection_documents" ADD CONSTRAINT "connection_documents_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "connection_domains" ADD CONSTRAINT "connection_domains_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "connection_role_mappings" ADD CONSTRAINT "connection_role_mappings_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "connection_role_mappings" ADD CONSTRAINT "connection_role_mappings_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "roles"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "external_identities" ADD CONSTRAINT "external_identities_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "external_identities" ADD CONSTRAINT "external_identities_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
