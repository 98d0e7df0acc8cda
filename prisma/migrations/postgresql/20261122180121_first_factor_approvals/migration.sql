-- CreateTable
CREATE TABLE "first_factor_approvals" (
    "user_id" TEXT NOT NULL,
    "requested_at" TIMESTAMP(3),
    "allowed_until" TIMESTAMP(3),

    CONSTRAINT "first_factor_approvals_pkey" PRIMARY KEY ("user_id")
);

-- AddForeignKey
ALTER TABLE "first_factor_approvals" ADD CONSTRAINT "first_factor_approvals_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
