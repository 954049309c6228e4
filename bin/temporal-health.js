#!/usr/bin/env node
// The command's launcher. It checks Node before anything else is loaded, so this file keeps to syntax that an old Node can
// read. The package runs `dist`; a checkout runs the TypeScript through tsx, so that it can never be stale. Node resolves
// the symlink through which PATH may find us, so both are looked for beside the real file.
var OLDEST = [20, 19];

function fail(error, code) {
  var json = /(^| )(-o|--output)[ =]?jsonl?( |$)/.test(process.argv.slice(2).join(' '));
  var text = 'Error: ' + error.message + ' (' + error.code + ')\n  ' + error.hint;
  process.stderr.write((json ? JSON.stringify({ error: error }) : text) + '\n');
  process.exitCode = code;
}

function isTooOld(version) {
  var parts = version.split('.').map(Number);
  return parts[0] < OLDEST[0] || (parts[0] === OLDEST[0] && parts[1] < OLDEST[1]);
}

async function run() {
  // Warnings about how a library calls Node are nothing that a reader of stderr could mend.
  process.noDeprecation = true;
  var fs = await import('node:fs');
  var sources = new URL('../health/cli.ts', import.meta.url);
  var cli;
  if (fs.existsSync(sources)) {
    var tsx = await import('tsx/esm/api');
    // The folder that the command is run in may have a tsconfig.json of its own, which is none of our business.
    tsx.register({ tsconfig: false });
    cli = await import(sources.href);
  } else {
    cli = await import(new URL('../dist/health/cli.js', import.meta.url).href);
  }
  process.exitCode = await cli.main(process.argv.slice(2));
}

// For the tests: what an older Node would be told.
var version = process.env.TEMPORAL_HEALTH_PRETEND_NODE || process.versions.node;
if (isTooOld(version)) {
  fail(
    {
      code: 'NODE_VERSION',
      message: 'temporal-health needs Node ' + OLDEST.join('.') + ' or later; this is ' + version + '.',
      hint: 'Install a newer Node, for example from nodejs.org or with your version manager.',
    },
    1,
  );
} else {
  run().catch(function (error) {
    fail(
      {
        code: 'INTERNAL',
        message: 'temporal-health cannot start: ' + (error && error.message),
        hint: 'In a checkout run: npm ci',
      },
      1,
    );
  });
}
