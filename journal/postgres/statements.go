package postgres

import "github.com/reprise-run/reprise/migrations"

// statements holds the statements that name tables, with the schema's name put in.
type statements struct {
	alterDelete, alterResume, alterLock, alterTerminate            string
	claim, claimUnproven, claimAttention, claimNext                string
	commit, commitRead, commitOne, commitOneClose                  string
	resolveEvent                                                   string
	list, listByKey                                                string
	lockClear, lockTaken                                           string
	loadRuns, loadEvents, loadInbox                                string
	join, joinUnblock, nodes, renew, leave, leaveFree, leaveDelete string
	reapMark, reapOwners, reapFree, reapDelete                     string
	sendLock, send                                                 string
	startReuse, start, startOne, startRead                         string
}

func newStatements(schema string) statements {
	r := func(sql string) string { return migrations.Render(sql, schema) }
	return statements{
		alterDelete: r(alterDeleteSQL), alterResume: r(alterResumeSQL), alterLock: r(alterLockSQL), alterTerminate: r(alterTerminateSQL),
		claim: r(claimSQL), claimUnproven: r(claimUnprovenSQL), claimAttention: r(claimAttentionSQL), claimNext: r(claimNextSQL),
		commit: r(commitSQL), commitRead: r(commitReadSQL), commitOne: r(commitOneSQL), commitOneClose: r(commitOneCloseSQL),
		resolveEvent: r(resolveEventSQL),
		list:         r(listSQL), listByKey: r(listByKeySQL),
		lockClear: r(lockClearSQL), lockTaken: r(lockTakenSQL),
		loadRuns: r(loadRunsSQL), loadEvents: r(loadEventsSQL), loadInbox: r(loadInboxSQL),
		join: r(joinSQL), joinUnblock: r(joinUnblockSQL), nodes: r(nodesSQL), renew: r(renewSQL), leave: r(leaveSQL), leaveFree: r(leaveFreeSQL), leaveDelete: r(leaveDeleteSQL),
		reapMark: r(reapMarkSQL), reapOwners: r(reapOwnersSQL), reapFree: r(reapFreeSQL), reapDelete: r(reapDeleteSQL),
		sendLock: r(sendLockSQL), send: r(sendSQL),
		startReuse: r(startReuseSQL), start: r(startSQL), startOne: r(startOneSQL), startRead: r(startReadSQL),
	}
}
