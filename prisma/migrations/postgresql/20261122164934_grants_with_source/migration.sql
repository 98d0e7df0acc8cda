-- AlterTable
ALTER TABLE "user_roles" DROP CONSTRAINT "user_roles_pkey",
ADD COLUMN     "via" TEXT NOT NULL DEFAULT '',
ADD CONSTRAINT "user_roles_pkey" PRIMARY KEY ("user_id", "role_id", "via");
