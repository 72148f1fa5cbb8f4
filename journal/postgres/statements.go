package postgres

import "github.com/reprise-run/reprise/migrations"

// statements holds the statements that name tables, with the schema's name put in. They are
// rendered once for a store, so a call does not build text, and the text is the key of the driver's
// cache of prepared statements.
type statements struct {
	admin                                                     adminStatements
	limit                                                     limitStatements
	append, appendOne, excludeOwners, recall                  string
	lockFamily, orphans, terminate                            string
	preview, reply                                            string
	row                                                       struct{ next, publish, relabel string } // of a run, beside its events
	claim, claimUnconfirmed, claimAttention                   string
	claimLeft                                                 claimLeftStatements
	commit                                                    commitStatements
	list                                                      listStatements
	loadRuns, loadEvents, loadInbox                           string
	waiting                                                   waitingStatements
	member                                                    memberStatements
	lockTasks, send                                           string
	startReuse, start, startOne, startRead, startMessageDelay string
}

// claimLeftStatements are those about what a claim leaves, and of a claim that has met damage.
type claimLeftStatements struct{ waiting, next, tasks, unconfirmed, rows string }

// commitStatements are those that write turns and look for them: a batch of any, a batch of closes,
// one that leaves its run open, one that closes it; and those that find what somebody else has
// locked.
type commitStatements struct{ batch, closes, one, oneClose, read, free, existing string }

// adminStatements are those of operators' actions, and of the audit.
type adminStatements struct {
	delete, resume, pause, parent, row, priority, note, notePause, drainRead, drain, list, ofRun, acted string
	rewind                                                                                              rewindStatements
	fork                                                                                                forkStatements
	scope                                                                                               scopeStatements
	view                                                                                                viewStatements
}

// rewindStatements are those that make a generation of an earlier one.
type rewindStatements struct{ read, state, family, unread, begin, inbox, children string }

// forkStatements are those that a fork has beside them.
type forkStatements struct{ run, inbox, results, links string }

// scopeStatements are those of pauses of scopes.
type scopeStatements struct{ lock, pause, resume, list, heed, member string }

// viewStatements are those of saved views.
type viewStatements struct{ lock, read, save, delete, list string }

// listStatements are those of pages: of any runs, by key, and of runs of a status that did not
// complete; and rows of runs that are known.
type listStatements struct{ plain, byKey, failed, rows string }

// waitingStatements are those for callers who wait: for answers to updates, for ends of runs.
type waitingStatements struct{ answers, ends string }

// memberStatements are those about nodes.
type memberStatements struct {
	join, joinUnblock, nodes, renew, leave, leaveFree, leaveDelete string
	lookSuspects, lookNodes, lookNext, watch                       string
	owned, release, loadOwned                                      string
	reapSuspects, reapMark, reapOwners, reapFree, reapDelete       string
}

func newStatements(schema string) statements {
	r := func(sql string) string { return migrations.Render(sql, schema) }
	return statements{
		admin: adminStatements{delete: r(adminDeleteSQL), resume: r(adminResumeSQL), pause: r(adminPauseSQL), parent: r(adminParentSQL),
			row: r(adminRowSQL), priority: r(adminPrioritySQL), note: r(auditNoteSQL), notePause: r(auditPauseSQL), drainRead: r(drainReadSQL), drain: r(drainSQL),
			scope: newScopeStatements(r), view: viewStatements{lock: r(viewLockSQL), read: r(viewReadSQL), save: r(viewSaveSQL), delete: r(viewDeleteSQL), list: r(viewsSQL)},
			list: r(auditSQL), ofRun: r(auditRunSQL), acted: r(auditActedSQL),
			rewind: rewindStatements{read: r(rewindReadSQL), state: r(rewindStateSQL), family: r(rewindFamilySQL), unread: r(rewindUnreadSQL), begin: r(rewindSQL),
				inbox: r(rewindInboxSQL), children: r(rewindChildrenSQL)},
			fork: forkStatements{run: r(forkRunSQL), inbox: r(forkInboxSQL), results: r(forkResultsSQL), links: r(forkLinksSQL)}},
		limit:  newLimitStatements(r),
		append: r(appendSQL), appendOne: r(appendOneSQL), excludeOwners: r(excludeOwnersSQL), recall: r(recallSQL),
		lockFamily: r(lockFamilySQL), orphans: r(orphansSQL), terminate: r(terminateSQL),
		preview: r(previewSQL), reply: r(replySQL),
		row:   struct{ next, publish, relabel string }{next: r(continueSQL), publish: r(publishSQL), relabel: r(relabelSQL)},
		claim: r(claimSQL), claimUnconfirmed: r(claimUnconfirmedSQL), claimAttention: r(claimAttentionSQL),
		claimLeft: claimLeftStatements{waiting: r(claimWaitingSQL), next: r(claimNextSQL),
			tasks: r(claimTasksSQL), unconfirmed: r(claimUnconfirmedTasksSQL), rows: r(claimRowsSQL)},
		commit: commitStatements{batch: r(commitSQL), closes: r(commitCloseSQL), one: r(commitOneSQL), oneClose: r(commitOneCloseSQL), read: r(commitReadSQL),
			free: r(freeTasksSQL), existing: r(existingTasksSQL)},
		list:     listStatements{plain: r(listSQL), byKey: r(listByKeySQL), failed: r(listFailedSQL), rows: r(listRowsSQL)},
		loadRuns: r(loadRunsSQL), loadEvents: r(loadEventsSQL), loadInbox: r(loadInboxSQL),
		waiting:   waitingStatements{answers: r(loadAnswersSQL), ends: r(endsSQL)},
		member:    newMemberStatements(r),
		lockTasks: r(lockTasksSQL), send: r(sendSQL),
		startReuse: r(startReuseSQL), start: r(startSQL), startOne: r(startOneSQL), startRead: r(startReadSQL), startMessageDelay: r(startMessageDelaySQL),
	}
}

func newLimitStatements(r func(sql string) string) limitStatements {
	return limitStatements{
		lock: r(limitLockSQL), try: r(limitTrySQL), member: r(limitMemberSQL), remove: r(limitRemoveSQL), known: r(limitKnownSQL),
		state: r(limitStateSQL), open: r(limitOpenSQL), lines: r(limitLinesSQL), insert: r(limitInsertSQL),
		grant: r(limitGrantSQL), ofNode: r(limitOfNodeSQL),
		sets: limitSetStatements{list: r(limitSetsSQL), gone: r(limitSetsGoneSQL), enter: r(limitSetsEnterSQL), move: r(limitSetsMoveSQL),
			left: r(limitSetsLeftSQL), halted: r(limitHaltedSQL), haltedOf: r(limitHaltedSetsSQL), unhalt: r(limitUnhaltSQL),
			nodes: r(limitNodesSQL), routes: r(limitRoutesSQL)},
		names: r(limitNamesSQL), free: r(limitFreeSQL), sweep: r(limitSweepSQL),
		adminRead: r(limitReadSQL), set: r(limitSetSQL), unset: r(limitUnsetSQL), retotal: r(limitRetotalSQL), reshare: r(limitReshareSQL), claim: r(limitClaimSQL),
		rates: limitRateStatements{rated: r(limitRatedSQL), ratedKey: r(limitRatedKeySQL), rerate: r(limitRerateSQL)},
		list:  r(limitsSQL), uses: r(limitUsesSQL), held: r(limitHeldSQL), waiting: r(limitWaitingSQL), waitingName: r(limitWaitingNameSQL),
		waitingRun: r(limitWaitingRunSQL),
		runs: limitRunStatements{
			start: r(startLimitedSQL), again: r(limitAgainSQL), end: r(limitEndSQL), more: r(limitMoreSQL), due: r(limitDueSQL), next: r(limitNextSQL),
			news: r(limitNewsSQL), arrive: r(limitArriveSQL), aside: r(limitAsideSQL), begin: r(limitBeginSQL), look: r(limitLookSQL),
			reroute: r(limitRerouteSQL), spare: r(limitSpareSQL),
		},
		full: limitFullStatements{bounded: r(limitBoundedSQL), gate: r(limitGateSQL), room: r(limitRoomSQL), oldest: r(limitOldestSQL),
			family: r(limitFamilySQL)},
	}
}

func newScopeStatements(r func(sql string) string) scopeStatements {
	return scopeStatements{lock: r(pauseLockSQL), pause: r(pauseScopeSQL), resume: r(resumeScopeSQL), list: r(pausesSQL),
		heed: r(heedSQL), member: r(heedMemberSQL)}
}

func newMemberStatements(r func(sql string) string) memberStatements {
	return memberStatements{
		join: r(joinSQL), joinUnblock: r(joinUnblockSQL), nodes: r(nodesSQL), renew: r(renewSQL),
		leave: r(leaveSQL), leaveFree: r(leaveFreeSQL), leaveDelete: r(leaveDeleteSQL),
		lookSuspects: r(lookSuspectsSQL), lookNodes: r(lookNodesSQL), lookNext: r(lookNextSQL), watch: r(watchSQL),
		owned: r(ownedSQL), release: r(releaseSQL), loadOwned: r(loadOwnedSQL),
		reapSuspects: r(reapSuspectsSQL), reapMark: r(reapMarkSQL), reapOwners: r(reapOwnersSQL), reapFree: r(reapFreeSQL), reapDelete: r(reapDeleteSQL),
	}
}
