"""The pages and the JSON interface, as a Starlette application."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from wholetext.errors import RunError, WholetextError, WriteError
from wholetext.files.parsing import printable, read_json
from wholetext.serving.access import HEALTH, Guard, problem, signed_in
from wholetext.serving.intake import form_request, json_request, listed_files, offered_metrics
from wholetext.serving.jobs import Job, Jobs
from wholetext.serving.scheduler import Scheduler
from wholetext.serving.settings import ServeOptions, same
from wholetext.serving.uploads import TooLarge, TooSlow, limited, read_form, store

# bytes of JSON that the server decodes; more, of which Python may make 30 times as many, is
# decoded by the worker
DECODED = 1_000_000
STATUS = {TooLarge: 413, TooSlow: 408, RunError: 507, WriteError: 507}  # of errors; others: 400
POLLING = 0.1  # seconds between looks at a job whose client is waiting
ASSETS = {
    "app.js": "text/javascript",
    "login.js": "text/javascript",
    "app.css": "text/css",
    "icon.svg": "image/svg+xml",
}
REPORT = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([^"]+)">')


def make_app(jobs: Jobs, scheduler: Scheduler, options: ServeOptions) -> Guard:
    """The application over a job queue; it starts and ends the scheduler."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        scheduler.start()
        try:
            yield
        finally:
            await run_in_threadpool(scheduler.close)
            jobs.close()

    api = Api(jobs, scheduler, options)
    routes = [
        Route(HEALTH, api.health),
        Route("/", api.page),
        Route("/login", api.login, methods=["GET", "POST"]),
        Route("/assets/{name}", api.asset),
        Route("/v1/metrics", api.metrics),
        Route("/v1/score", api.score, methods=["POST"]),
        Route("/v1/jobs", api.list_jobs, methods=["GET"]),
        Route("/v1/jobs", api.add_job, methods=["POST"]),
        Route("/v1/jobs/{id}", api.show_job, methods=["GET"]),
        Route("/v1/jobs/{id}", api.remove_job, methods=["DELETE"]),
        Route("/v1/jobs/{id}/results", api.results),
        Route("/v1/jobs/{id}/run.zip", api.folder),
        Route("/v1/jobs/{id}/report", api.report),
    ]
    faults: Mapping[Any, Any] = {
        WholetextError: _refused,
        HTTPException: _missing,
        ClientDisconnect: _gone,
        OSError: _not_stored,
        Exception: _failed,
    }
    return Guard(Starlette(routes=routes, lifespan=lifespan, exception_handlers=faults), options)


async def _refused(_: Request, fault: Exception) -> Response:
    assert isinstance(fault, WholetextError)
    what = f"{fault.where}: {fault.what}" if fault.where else fault.what
    status = STATUS.get(type(fault), 400)
    return problem(
        status,
        printable(fault.what if status == 507 else what, keep="\n"),  # without paths of the server
        printable(fault.next, keep="\n"),
        {"connection": "close"} if status != 400 else None,
    )


async def _not_stored(_: Request, fault: Exception) -> Response:
    reason = getattr(fault, "strerror", None) or type(fault).__name__
    return problem(
        507,
        f"the server cannot store the request ({reason})",
        "free space on its disk, then send the request again",
        {"connection": "close"},
    )


async def _failed(_: Request, fault: Exception) -> Response:
    return problem(
        500,
        f"wholetext failed unexpectedly ({type(fault).__name__})",
        "see the server's log, and report it",
    )


async def _missing(_: Request, fault: Exception) -> Response:
    assert isinstance(fault, HTTPException)
    return problem(
        fault.status_code,
        fault.detail,
        "`GET /v1/jobs` lists the jobs and their states; docs/serve.md lists the addresses",
    )


async def _gone(_: Request, fault: Exception) -> Response:
    return Response(status_code=400)


class Api:
    """The routes of the web application."""

    def __init__(self, jobs: Jobs, scheduler: Scheduler, options: ServeOptions) -> None:
        self.jobs, self.scheduler, self.options = jobs, scheduler, options

    # -------------------------------------------------------- pages

    async def health(self, _: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def page(self, _: Request) -> Response:
        return Response(_asset("app.html"), media_type="text/html")

    async def login(self, request: Request) -> Response:
        if request.method == "GET":
            if not self.options.token:
                return RedirectResponse("/", 303)
            return Response(_asset("login.html"), media_type="text/html")
        body = b"".join([chunk async for chunk in limited(request.stream(), 10_000)])
        sent = read_json(body, where="/login")
        token = str(sent.get("token", "")) if isinstance(sent, dict) else ""
        if self.options.token and same(token, self.options.token):
            return signed_in(request, self.options)
        return problem(
            401, "this is not the token of the server", "the person who started it knows it"
        )

    async def asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in ASSETS:
            raise HTTPException(404, "there is no such page")
        theme = _asset("theme.css", "wholetext.reporting") if name == "app.css" else ""
        return Response(theme + _asset(name), media_type=ASSETS[name])

    # -------------------------------------------------------- listings

    async def metrics(self, _: Request) -> Response:
        """Metrics and files that a request may name, and the size limit."""
        offered = await run_in_threadpool(offered_metrics)
        return JSONResponse(
            {**offered, "files": listed_files(self.jobs.folder), "upload": self.options.upload}
        )

    async def list_jobs(self, _: Request) -> Response:
        return JSONResponse(
            {"jobs": [_plain(job) for job in self.jobs.all() if job.request.get("keep", True)]}
        )

    async def show_job(self, request: Request) -> Response:
        return JSONResponse(_plain(self._job(request)))

    def _job(self, request: Request, done: bool = False) -> Job:
        job = self.jobs.get(request.path_params["id"])
        if job is None:
            raise HTTPException(404, "there is no such job")
        if done and job.state != "done":
            raise HTTPException(409, f"the job is {job.state}")
        return job

    # -------------------------------------------------------- new jobs

    async def add_job(self, request: Request) -> Response:
        """Queue a job from a form with files and choices."""
        if full := self._full():
            return full
        id = self.jobs.new_id()
        try:
            form = await read_form(
                request.stream(),
                request.headers.get("content-type", ""),
                self.jobs.place(id) / "input",
                self.options.upload,
            )
            parsed = await run_in_threadpool(form_request, form, self.jobs.folder, self.options)
            job = self.jobs.add(id, *parsed)
        except BaseException:
            shutil.rmtree(self.jobs.place(id), ignore_errors=True)
            raise
        self.scheduler.wake()
        return JSONResponse(_plain(job), 202)

    async def score(self, request: Request) -> Response:
        """Score documents sent as JSON; the response is that of `wholetext score -f json`."""
        content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type != "application/json":
            return problem(
                415, "the request is not JSON", "send it with Content-Type: application/json"
            )
        if full := self._full():
            return full
        id = self.jobs.new_id()
        body = self.jobs.place(id) / "input" / "request.json"
        parsed: dict[str, Any] = {"body": body.relative_to(self.jobs.folder).as_posix()}
        try:
            if await store(request.stream(), body, self.options.upload) <= DECODED:
                parsed = await run_in_threadpool(json_request, body, self.options)
            self.jobs.add(id, "/v1/score", {**parsed, "keep": False})
            self.scheduler.wake()
            while (job := self.jobs.get(id)) is not None and job.active:
                if await request.is_disconnected():
                    break
                await asyncio.sleep(POLLING)
            if job is None or job.state != "done":
                error = job.error if job and job.error else "the job was cancelled"
                what, _, step = error.partition("\n  → ")
                return problem(422, what, step)
            return Response(
                (self.jobs.place(id) / "result" / "results.json").read_bytes(),
                media_type="application/json",
            )
        finally:
            await run_in_threadpool(self._remove, id)

    def _full(self) -> Response | None:
        jobs = self.jobs.all()
        if sum(job.state == "waiting" for job in jobs) >= self.options.waiting:
            return problem(
                429,
                f"{self.options.waiting} jobs wait already, the limit of this server",
                "try again when some are done",
                {"retry-after": "60"},
            )
        if len(jobs) >= self.options.kept:
            return problem(
                429,
                f"the server keeps {self.options.kept} jobs already, its limit",
                "delete old ones",
            )
        return None

    async def remove_job(self, request: Request) -> Response:
        """Cancel a job that is waiting or running; remove one that has ended, with its files."""
        job = self._job(request)
        if job.active:
            await run_in_threadpool(self.scheduler.cancel, job.id)
            return JSONResponse(_plain(self._job(request)))
        await run_in_threadpool(self.jobs.delete, job.id)
        return Response(status_code=204)

    def _remove(self, id: str) -> None:
        self.scheduler.cancel(id)
        self.jobs.delete(id)

    # -------------------------------------------------------- results

    async def results(self, request: Request) -> Response:
        return FileResponse(self._result(request, "results.json"), media_type="application/json")

    async def folder(self, request: Request) -> Response:
        job = self._job(request, done=True)
        return FileResponse(self._result(request, "run.zip"), filename=f"run-{job.id[:8]}.zip")

    async def report(self, request: Request) -> Response:
        """The report under its own content policy, without access to this server."""
        page = await run_in_threadpool(self._result(request, "run/report.html").read_bytes)
        own = REPORT.search(page[:4096])
        policy = own[1].decode("ascii") if own else "default-src 'none'"
        policy = (
            f"{policy.replace('&#39;', chr(39))}; frame-ancestors 'none'; "
            "sandbox allow-scripts allow-downloads"
        )
        return Response(page, media_type="text/html", headers={"content-security-policy": policy})

    def _result(self, request: Request, name: str) -> Path:
        path = self.jobs.place(self._job(request, done=True).id) / "result" / name
        if not path.is_file():
            raise HTTPException(404, "the job has no such file")
        return path


def _asset(name: str, package: str = "wholetext.serving") -> str:
    return (resources.files(package) / "assets" / name).read_text("utf-8")


def _plain(job: Job) -> dict[str, Any]:
    """A job as JSON values."""
    stage = dict(zip(("stage", "done", "of"), job.progress)) if job.progress else None
    return {
        "id": job.id,
        "title": job.title,
        "state": job.state,
        "metrics": job.request.get("metrics", []),
        "created": job.created,
        "started": job.started,
        "ended": job.ended,
        "progress": stage,
        "error": job.error,
    }
