// The built program for many commands, one after the other in one process: a process for each takes most of a second of CPU time.
// Each message is a command line with its environment and standard input; the answer is what a shell would get.
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';

const program = pathToFileURL(process.argv[2]);
const write = (stream, text) => {
  stream.text += text;
  return true;
};
let count = 0;

process.stdout.setMaxListeners(0); // the program listens for errors of its output, once per process
process.on('message', async ({ args, env, stdin }) => {
  const [out, err] = [{ text: '' }, { text: '' }];
  process.env = env;
  process.argv = [process.execPath, program.pathname, ...args];
  process.exitCode = 0;
  process.stdout.write = (text) => write(out, text);
  process.stderr.write = (text) => write(err, text);
  Object.defineProperty(process, 'stdin', { value: Readable.from([stdin]), configurable: true });
  count += 1;
  program.search = `?${count}`; // evaluated again
  try {
    await import(program.href);
  } catch (error) {
    err.text += error.stack;
    process.exitCode = 70;
  }
  process.send({ code: process.exitCode, out: out.text, err: err.text });
});
