// Loaded with the first mail, because the library takes 2 MB.
export { createTransport } from 'nodemailer';
