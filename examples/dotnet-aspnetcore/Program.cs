using System;
using System.Diagnostics;
using System.Net.Sockets;
using System.Text.Json;
using System.Threading;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

static class Program
{
    static void Main()
    {
        TellCounters();
        Host.CreateDefaultBuilder()
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://127.0.0.1:" + Environment.GetEnvironmentVariable("PORT"))
                .Configure(Configure))
            .Build()
            .Run();
    }

    static void Configure(IApplicationBuilder app)
    {
        if (Environment.GetEnvironmentVariable("LAYER") == "1") app.Use(Time);
        app.Run(context =>
        {
            context.Response.ContentType = "text/plain";
            context.Response.ContentLength = 5;
            return context.Response.WriteAsync("hello");
        });
    }

    // The layer: tells in a header how long a request took until its response began.
    static RequestDelegate Time(RequestDelegate next) => context =>
    {
        var watch = Stopwatch.StartNew();
        context.Response.OnStarting(() =>
        {
            context.Response.Headers["Server-Timing"] = $"app;dur={watch.Elapsed.TotalMilliseconds:F3}";
            return System.Threading.Tasks.Task.CompletedTask;
        });
        return next(context);
    };

    // Answers whoever connects with the totals of the runtime, when tare asks for them (counters = "own").
    static void TellCounters()
    {
        var prefix = Environment.GetEnvironmentVariable("TARE_COUNTERS");
        if (prefix == null) return;
        var listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        // The zero byte makes the name abstract: there is no file.
        listener.Bind(new UnixDomainSocketEndPoint($"\0{prefix}-{Environment.ProcessId}"));
        listener.Listen();
        new Thread(() => Answer(listener)) { IsBackground = true }.Start();
    }

    static void Answer(Socket listener)
    {
        while (true)
        {
            using var asking = listener.Accept();
            asking.Send(JsonSerializer.SerializeToUtf8Bytes(new
            {
                allocated_bytes = GC.GetTotalAllocatedBytes(),
                heap_used_bytes = GC.GetTotalMemory(false),
                heap_committed_bytes = GC.GetGCMemoryInfo().TotalCommittedBytes,
                collectors = new { gc = new { pauses = GC.CollectionCount(0), pause_ns = GC.GetTotalPauseDuration().Ticks * 100 } },
            }));
        }
    }
}
