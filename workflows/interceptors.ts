/**
 * The plugin's half in the sandbox: one header on every activity, one on a continued run. It schedules nothing, records
 * nothing, sets no handler and never fails the run, so that histories recorded without it replay with it.
 */
import { workflowInfo } from '@temporalio/workflow';
import type { WorkflowInterceptors, WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { BUNDLE_MARK, readMissionHeader, withMissionHeader, withRunHeader } from './header.ts';
import { beginRun, fingerprintOf, isCron, noteActivation, runFacts } from './run.ts';

export const interceptors: WorkflowInterceptorsFactory = (): WorkflowInterceptors => ({
  inbound: [
    {
      execute(input, next) {
        const { workflowType, cronSchedule } = workflowInfo();
        // The server hands a cron run the header of the run before it, which is another chain's mission.
        const carried = isCron(cronSchedule) ? undefined : readMissionHeader(input.headers);
        beginRun(carried === undefined ? fingerprintOf(workflowType, input.args) : carried, BUNDLE_MARK);
        return next(input);
      },
    },
  ],
  outbound: [
    {
      scheduleActivity: (input, next) => next({ ...input, headers: withRunHeader(input.headers, runFacts()) }),
      scheduleLocalActivity: (input, next) => next({ ...input, headers: withRunHeader(input.headers, runFacts()) }),
      continueAsNew(input, next) {
        const { cronSchedule } = workflowInfo();
        if (isCron(cronSchedule)) return next(input);
        return next({ ...input, headers: withMissionHeader(input.headers, runFacts().missionFingerprint) });
      },
    },
  ],
  internals: [
    {
      activate(input, next) {
        noteActivation();
        next(input);
      },
    },
  ],
});
