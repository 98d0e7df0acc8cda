// The command line: `gatehouse COMMAND`. bin/gatehouse.js starts it.
import { processIo } from './cli/io.ts';
import { run } from './cli/run.ts';

const code = await run(process.argv.slice(2), processIo());
// 1 already, when the output could not be written.
process.exitCode ||= code;
