// Loaded with the first mail, because the library takes 2 MB (docs/decisions/0040-a-bundle.md).
export { createTransport } from 'nodemailer';
